// SPDX-License-Identifier: Apache-2.0
// Macros that system headers are known to define in lower or bare names; pave's headers must not trip over them.
#ifndef PAVE_TESTS_COMPILE_HOSTILE_MACROS_HPP
#define PAVE_TESTS_COMPILE_HOSTILE_MACROS_HPP

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): other people's names
// <windows.h>
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define near
#define far
#define interface struct
#define IN
#define OUT
#define OPTIONAL
#define ERROR 0
#define DELETE 0x00010000L
#define CALLBACK __stdcall
// <complex.h>, <termios.h>, <sys/sysmacros.h>, <sys/param.h>
#define I _Complex_I
#define B0 0000000
#define major(dev) gnu_dev_major(dev)
#define minor(dev) gnu_dev_minor(dev)
#define makedev(a, b) gnu_dev_makedev(a, b)
#define roundup(x, y) round_up_to(x, y)
#define howmany(x, y) how_many_of(x, y)
// <X11/X.h>, <X11/Xlib.h>
#define None 0L
#define Bool int
#define True 1
#define False 0
#define Status int
#define Success 0
// GNU dialects
#define unix 1
#define linux 1
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

#endif  // PAVE_TESTS_COMPILE_HOSTILE_MACROS_HPP
