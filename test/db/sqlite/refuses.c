// Loaded before libc (LD_PRELOAD), plays a file system of a network: without locks, or without memory that processes share.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int refuses(const char *what) {
  const char *refused = getenv("REFUSES");
  return refused != NULL && strcmp(refused, what) == 0;
}

int fcntl(int file, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) {
    errno = refuses("locks, as a server without them") ? ENOLCK : refuses("locks, as a disk without them") ? ENOTSUP : 0;
    if (errno != 0) return -1;
  }
  return ((int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl"))(file, command, argument);
}

int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

void *mmap(void *at, size_t length, int protection, int flags, int file, off_t offset) {
  if (file >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE) && refuses("shared memory")) {
    errno = ENODEV;
    return MAP_FAILED;
  }
  return ((void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap"))(at, length, protection, flags, file, offset);
}

void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));
