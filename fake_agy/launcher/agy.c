/* agy.exe: starts the command line appended to this file, followed by its own arguments, and ends as it ends.
 *
 * Layout of the end of the file: the command line in UTF-8, its length (4 bytes, little-endian), "FAKEAGY1".
 * It has no C library: kernel32 is all it needs, on every 64-bit Windows and under Wine. Build (see build.sh).
 */
#include <windows.h>

__attribute__((used)) static const volatile char stamp[] = "source sha256 " STAMP;
#define MARK_BYTES 8
#define MOST 32000

static void *memory(SIZE_T bytes) { return HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, bytes); }

static void fail(const char *text) {
    DWORD written;
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, (DWORD)lstrlenA(text), &written, NULL);
    ExitProcess(96);
}

/* The arguments as they stand in this process's own command line, behind the program's name. */
static const WCHAR *arguments(void) {
    const WCHAR *at = GetCommandLineW();
    int quoted = 0;
    for (; *at && (quoted || (*at != L' ' && *at != L'\t')); at++)
        if (*at == L'"') quoted = !quoted;
    return at;
}

static DWORD read_at(HANDLE file, DWORD back, void *into, DWORD bytes) {
    DWORD got = 0;
    if (SetFilePointer(file, -(LONG)back, NULL, FILE_END) == INVALID_SET_FILE_POINTER) return 0;
    return ReadFile(file, into, bytes, &got, NULL) ? got : 0;
}

static WCHAR *appended(void) {
    WCHAR *path = memory(MOST * sizeof(WCHAR)), *wide;
    BYTE tail[4 + MARK_BYTES];
    char *text;
    DWORD length;
    HANDLE file;
    GetModuleFileNameW(NULL, path, MOST);
    file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                       OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) fail("fake-agy: cannot read this program's own file\n");
    if (read_at(file, sizeof tail, tail, sizeof tail) != sizeof tail || tail[4] != 'F' || tail[11] != '1')
        fail("fake-agy: nothing to start is appended to this program; 'fake-agy install DIR' does that\n");
    length = tail[0] | tail[1] << 8 | tail[2] << 16;
    text = memory(length + 1);
    wide = memory(2 * MOST * sizeof(WCHAR));
    if (length > MOST || read_at(file, length + sizeof tail, text, length) != length)
        fail("fake-agy: the command line appended to this program is cut\n");
    MultiByteToWideChar(CP_UTF8, 0, text, (int)length, wide, MOST);
    CloseHandle(file);
    return wide;
}

/* Control events are the child's business: it is in the same console and decides; this process waits. */
static BOOL WINAPI heard(DWORD kind) { return kind == CTRL_C_EVENT || kind == CTRL_BREAK_EVENT; }

/* A job of its own, so that ending this process ends what it started, but not what that started. */
static HANDLE job(void) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION *limits = memory(sizeof *limits);
    HANDLE made = CreateJobObjectW(NULL, NULL);
    limits->BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK;
    if (made) SetInformationJobObject(made, JobObjectExtendedLimitInformation, limits, sizeof *limits);
    return made;
}

void start(void) {
    STARTUPINFOW *how = memory(sizeof *how);
    PROCESS_INFORMATION *child = memory(sizeof *child);
    WCHAR *line = appended();
    HANDLE own = job();
    DWORD code = 96;
    if (lstrlenW(line) + lstrlenW(arguments()) >= 2 * MOST) fail("fake-agy: the command line is too long\n");
    lstrcatW(line, arguments());
    how->cb = sizeof *how;
    how->dwFlags = STARTF_USESTDHANDLES;
    how->hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    how->hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    how->hStdError = GetStdHandle(STD_ERROR_HANDLE);
    SetConsoleCtrlHandler(heard, TRUE);
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, how, child))
        fail("fake-agy: the interpreter that this program was installed with cannot be started\n");
    if (own) AssignProcessToJobObject(own, child->hProcess);
    ResumeThread(child->hThread);
    WaitForSingleObject(child->hProcess, INFINITE);
    GetExitCodeProcess(child->hProcess, &code);
    ExitProcess(stamp[0] ? code : 96);
}
