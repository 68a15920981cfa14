/* SQLite on a disk that fails when it is told to: what phones that are full, worn or locked do. */
#ifndef FAULTY_VFS_H
#define FAULTY_VFS_H

/** Every database that is opened from now on is on it. */
void use_faulty_vfs(void);
/** @param kind `open`, `full`, `readonly`, `io`, `busy`, perhaps with `-once` or `-twice` behind it; empty: no longer */
void set_fault(const char *kind);

#endif
