#!/bin/sh
# Builds agy.exe from agy.c with MinGW-w64; the same compiler gives the same bytes.
set -e
cd "$(dirname "$0")"
stamp=$(sha256sum agy.c | cut -d' ' -f1)
x86_64-w64-mingw32-gcc -Os -s -nostdlib -ffreestanding -fno-ident -fno-asynchronous-unwind-tables \
    -mno-stack-arg-probe -Wall -Wextra -Werror -DSTAMP="\"$stamp\"" \
    -Wl,-e,start -Wl,--subsystem,console -Wl,--no-insert-timestamp -o agy.exe agy.c -lkernel32
