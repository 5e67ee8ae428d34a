/* libbloomgate: look-ups in Bloomgate's filter files, from C, from C++ and from whatever calls C.
 *
 * For programs other than Bloomgate's own that read its filters: a mail server's module, a batch over a data lake, a
 * binding for another language. It opens and checks a file, tells of one address or of millions whether they are
 * listed, and makes keys and hashes of addresses as the builder does. It never logs, prints, ends the process, or lets
 * an exception out.
 *
 * Text is a pointer and a number of bytes, and may hold any bytes; it need not end with a NUL. Where the number is 0
 * the pointer may be null. What a function gives back as `const char *` ends with a NUL.
 *
 * Errors. A function that can fail returns BLOOMGATE_OK or another of the codes below, and then writes nothing to where
 * its results go, but where it says so. bloomgate_last_error() has the sentence for a person: what was expected, what
 * was found, where, and what to do. A text that is no address is not an error: it is an answer.
 *
 * Threads. Do not cancel one (pthread_cancel) in a call. A bloomgate_filter may be
 * used by any number of threads at once, but not while or after it is closed. Each thread has a last error of its own.
 *
 * Files that change. A filter is replaced by renaming another over it, as `bloomgate build` does; who has the old one
 * open keeps it, whole. Nobody may write to a file in place. If somebody does, each look-up after the write fails with
 * BLOOMGATE_CHANGED_WHILE_OPEN (two writes within a tick of the file system's clock, or times that were put back, are
 * not seen). If the file becomes shorter, or its disk fails, the kernel raises SIGBUS in the thread that reads the
 * missing part, and ends the process, as with every mapped file. A library may not take that signal by itself: a
 * program that wants to live on calls bloomgate_survive_bus_faults().
 *
 * Compatibility. The names are versioned (BLOOMGATE_1). Later versions add functions, codes, numbers and answers; they
 * change none. So take an unknown code for a failure, and see bloomgate_is_listed() for answers.
 */
#ifndef BLOOMGATE_H
#define BLOOMGATE_H

/* NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using): for C as well */
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BLOOMGATE_API __attribute__((visibility("default")))
#else
#define BLOOMGATE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A filter file that is open. */
typedef struct bloomgate_filter bloomgate_filter;

/* What a function returns. The names are those of tests/bad/expected.tsv. */
enum {
  BLOOMGATE_OK = 0,
  BLOOMGATE_CANNOT_OPEN = 1,          /* open(2), fstat(2) or mmap(2) failed */
  BLOOMGATE_CANNOT_READ = 2,          /* reading failed */
  BLOOMGATE_CANNOT_WRITE = 3,         /* creating, writing, syncing or renaming failed */
  BLOOMGATE_NOT_A_REGULAR_FILE = 4,   /* a folder, FIFO, socket or device */
  BLOOMGATE_TOO_SHORT = 5,            /* shorter than a header */
  BLOOMGATE_BAD_MAGIC = 6,            /* not a file of Bloomgate */
  BLOOMGATE_UNSUPPORTED_VERSION = 7,  /* written by another version of Bloomgate */
  BLOOMGATE_BAD_HEADER_CHECKSUM = 8,  /* the header was damaged */
  BLOOMGATE_BAD_HEADER_FIELD = 9,     /* a field of the header is outside its range */
  BLOOMGATE_UNSUPPORTED_LAYOUT = 10,  /* a layout that is unknown, or that cannot do what was asked */
  BLOOMGATE_UNSUPPORTED_HASH = 11,    /* an unknown hash family */
  BLOOMGATE_UNSUPPORTED_SECTION = 12, /* an unknown kind of section */
  BLOOMGATE_SIZE_OVERFLOW = 13,       /* a size that does not fit in 64 bits */
  BLOOMGATE_WRONG_SIZE = 14,          /* the file is not as long as its header says */
  BLOOMGATE_BAD_TABLE_CHECKSUM = 15,  /* a table of checksums was damaged */
  BLOOMGATE_BAD_BODY_CHECKSUM = 16,   /* a part of a section was damaged */
  BLOOMGATE_BAD_SECTION = 17,         /* what is in a section, or between two, is not as the format has it */
  BLOOMGATE_CHANGED_WHILE_OPEN = 18,  /* somebody wrote to the file, or a part of it is gone */
  BLOOMGATE_BAD_ARGUMENT = 19,        /* the caller's mistake */
  BLOOMGATE_BAD_INPUT = 20,           /* not returned any more */
  BLOOMGATE_OUT_OF_MEMORY = 21,       /* also: a file too large for the address space */
  BLOOMGATE_TOO_MANY_MAPPINGS = 22,   /* more than 256 filters are open in this process */
  BLOOMGATE_NO_SYSTEM_RESOURCE = 23,  /* the system has no thread left */
  BLOOMGATE_LIBRARY_FAILED = 24,      /* a fault of this library */
  BLOOMGATE_INTERRUPTED = 25          /* the caller asked for a stop */
};

/* How a text is listed: one byte. Odd ones are listed, even ones are not; later ones, too. */
enum {
  BLOOMGATE_NOT_LISTED = 0,
  BLOOMGATE_LISTED = 1,              /* by itself */
  BLOOMGATE_EXCLUDED = 2,            /* not listed: its bits are all set, but it is an excluded sender */
  BLOOMGATE_BY_DOMAIN = 3,           /* by the entry `@domain`, or that with the signer asked for */
  BLOOMGATE_NULL_SENDER = 4,         /* `<>`: not listed */
  BLOOMGATE_BY_DOMAIN_TREE = 5,      /* by an entry `@.domain` of its domain or of one above it */
  BLOOMGATE_MALFORMED = 6,           /* not an address: not listed */
  BLOOMGATE_BY_PAIR = 7,             /* by an entry for this recipient */
  BLOOMGATE_BY_MAILING_LIST_TREE = 9 /* a mailing list, by an entry `list:*.host` of a host above it */
};

/* Whether an answer, of this version or a later one, means that a message may skip the deeper checks. */
static inline int bloomgate_is_listed(uint8_t answer) {
  return answer & 1;
}

/* What a text is. Greater ones are keys of entries. */
enum {
  BLOOMGATE_KIND_REJECTED = 0, /* not an entry */
  BLOOMGATE_KIND_BLANK = 1,    /* in a list: nothing but space, or a comment */
  BLOOMGATE_KIND_NULL_SENDER = 2,
  BLOOMGATE_KIND_ADDRESS = 3,
  BLOOMGATE_KIND_DOMAIN = 4,            /* `@domain` */
  BLOOMGATE_KIND_DOMAIN_TREE = 5,       /* `@.domain` */
  BLOOMGATE_KIND_PAIR = 6,              /* two addresses: `sender > recipient` */
  BLOOMGATE_KIND_DOMAIN_PAIR = 7,       /* a pair with a domain or a mailing list in it */
  BLOOMGATE_KIND_MAILING_LIST = 8,      /* `list:host` */
  BLOOMGATE_KIND_MAILING_LIST_TREE = 9, /* `list:*.host` */
  BLOOMGATE_KIND_WITH_SIGNER = 10       /* an entry with ` signed-by domain` behind it */
};

/* No key has more bytes. */
#define BLOOMGATE_MAX_KEY_BYTES 528

/* ---- The library ---- */

/* Its version, "0.1.0". */
BLOOMGATE_API const char* bloomgate_version(void);

/* The code as a stable word, "bad_magic"; "unknown" for what is none. Never fails. */
BLOOMGATE_API const char* bloomgate_error_name(int error);

/* The code as a sentence. Never fails. */
BLOOMGATE_API const char* bloomgate_strerror(int error);

/* What went wrong in the last call in this thread that failed, up to 1,023 bytes; "" if none has. It stays until the
 * next one that fails in this thread. */
BLOOMGATE_API const char* bloomgate_last_error(void);

/* Has a look-up that meets a missing part of a mapped filter find nothing there, and fail with
 * BLOOMGATE_CHANGED_WHILE_OPEN, where otherwise SIGBUS ends the process. Takes the place of the process's action for
 * SIGBUS, which comes back with the first fault elsewhere. Call it once, before other threads start. Fails:
 * CANNOT_OPEN. */
BLOOMGATE_API int bloomgate_survive_bus_faults(void);

/* ---- Files ---- */

/* Flags of bloomgate_open(). */
enum {
  /* Also checks all that is in the file against its checksums: reads the whole file, with a thread for each processor,
   * and brings it into memory. Without it the header, the file's size and the tables of checksums are checked, in a few
   * microseconds whatever its size. */
  BLOOMGATE_VERIFY = 1
};

/* Opens a filter file; gives a handle to close. A folder of layers is not one: open each of its files. Fails: any of
 * the codes 1 to 18, BAD_ARGUMENT (unknown flags), OUT_OF_MEMORY, TOO_MANY_MAPPINGS. */
BLOOMGATE_API int bloomgate_open(const char* path, size_t path_bytes, unsigned flags, bloomgate_filter** filter);

/* A null pointer is left alone. */
BLOOMGATE_API void bloomgate_close(bloomgate_filter* filter);

/* Whether the file is still as it was opened; each look-up asks that by itself. Cost: one fstat(2). Fails:
 * CHANGED_WHILE_OPEN. */
BLOOMGATE_API int bloomgate_check(const bloomgate_filter* filter);

/* What bloomgate_number() tells. */
enum {
  BLOOMGATE_FILE_BYTES = 1,
  BLOOMGATE_EXPECTED_ENTRIES = 2, /* that it was sized for */
  BLOOMGATE_ADDRESSES = 3,        /* in the bits, pairs of addresses among them; duplicates count each time */
  BLOOMGATE_DOMAINS = 4,          /* what is kept exactly: all entries but addresses and pairs of addresses */
  BLOOMGATE_PAIRS = 5,            /* pairs of addresses */
  BLOOMGATE_KNOWN_STRANGERS = 6,  /* that are excluded */
  BLOOMGATE_BITS_SET = 7,
  BLOOMGATE_HASHES = 8,      /* k: bits of an entry */
  BLOOMGATE_BLOCK_BYTES = 9, /* of a block */
  BLOOMGATE_BLOCK_COUNT = 10,
  BLOOMGATE_SEED = 11,
  BLOOMGATE_KEEPS_CASE = 12,    /* 1 where `Joe@` and `joe@` are two mailboxes */
  BLOOMGATE_SENDER_DOMAINS = 13 /* domains of the senders in the bits; 0 where the file does not have them */
};
/* Fails: BAD_ARGUMENT (no such number). */
BLOOMGATE_API int bloomgate_number(const bloomgate_filter* filter, int which, uint64_t* number);

/* What bloomgate_text() tells. */
enum {
  BLOOMGATE_LAYOUT = 1,      /* "page" */
  BLOOMGATE_HASH_FAMILY = 2, /* "xxh3" */
  BLOOMGATE_IDENTITY = 3,    /* 16 hexadecimal digits: equal for equal files, and but for chance only for these */
  BLOOMGATE_TAG_SEPARATORS = 4
};
/* The text lives as long as the filter. Null where there is no such text. */
BLOOMGATE_API const char* bloomgate_text(const bloomgate_filter* filter, int which);

/* The share of unlisted addresses that are taken for listed, in 0 to 1; for a look-up without a recipient. By the
 * theory of its layout, from how full it is. Where the file has the domains of its senders, that is the share at these
 * domains; at any other domain an address is found less than once in 10^9 look-ups. Cost: a millisecond. */
BLOOMGATE_API double bloomgate_expected_rate(const bloomgate_filter* filter);

/* ---- Look-ups ----
 *
 * An address is given as a mail server has it: `joe@example.org`, `<joe@example.org>`, `<>`. It is made canonical as
 * the file says (case, tags, international names), and looked up by itself and by its domain. If the file has the
 * domains of its senders (BLOOMGATE_SENDER_DOMAINS), the bits list an address only at one of these domains: so an
 * address at a domain without an entry is not listed by chance.
 *
 * Where a function fails, its answers are BLOOMGATE_NOT_LISTED, all of them: whoever forgets to ask for the code errs
 * on the safe side. All fail with CHANGED_WHILE_OPEN, and BAD_ARGUMENT as said.
 *
 * Cost: 0.3 microseconds for one, a tenth of that for each of many, if the file is in memory; a system call for each
 * call. */

BLOOMGATE_API int bloomgate_look_up(const bloomgate_filter* filter, const char* address, size_t bytes, uint8_t* answer);

/* The same for one recipient: also what is listed for that recipient alone. A malformed recipient adds nothing. */
BLOOMGATE_API int bloomgate_look_up_pair(const bloomgate_filter* filter, const char* sender, size_t sender_bytes,
                                         const char* recipient, size_t recipient_bytes, uint8_t* answer);

/* An entry as it stands in a list: an address, `@domain`, `@.domain`, a mailing list `list:host` or `list:*.host`,
 * `sender > recipient`, or one with ` signed-by domain` behind it. Whether it is listed, by itself or by a wider one;
 * for a program that maintains lists. For senders of mail see above: no sender has the address `@domain`. An entry with
 * a signer is asked for with that signer only, and answered by the wider entry with that signer. Before you put an
 * address of a message into such a text, make it canonical: it may hold a '#'. */
BLOOMGATE_API int bloomgate_look_up_entry(const bloomgate_filter* filter, const char* entry, size_t bytes,
                                          uint8_t* answer);

/* Many addresses, one answer each. One after the other in this thread; several threads may share the work. */
BLOOMGATE_API int bloomgate_look_up_many(const bloomgate_filter* filter, const char* const* addresses,
                                         const size_t* bytes, size_t count, uint8_t* answers);

/* A column as Apache Arrow has it: the addresses one behind the other in `data`, number i from offsets[i] up to, but
 * not including, offsets[i + 1]. So there are count + 1 offsets; they must not fall, and the last is at most
 * data_bytes. Nulls are empty texts, as a rule, which are not listed. Fails: BAD_ARGUMENT, before anything is looked
 * up. */
BLOOMGATE_API int bloomgate_look_up_column32(const bloomgate_filter* filter, const char* data, size_t data_bytes,
                                             const int32_t* offsets, size_t count, uint8_t* answers);
BLOOMGATE_API int bloomgate_look_up_column64(const bloomgate_filter* filter, const char* data, size_t data_bytes,
                                             const int64_t* offsets, size_t count, uint8_t* answers);

/* A column of a fixed width, as NumPy's `S` has it: number i begins at data + i * width, and ends before the NULs that
 * fill it. There are count * width bytes. Fails: BAD_ARGUMENT if that product does not fit. */
BLOOMGATE_API int bloomgate_look_up_fixed(const bloomgate_filter* filter, const char* data, size_t width, size_t count,
                                          uint8_t* answers);

/* ---- Keys and hashes ---- */

/* The canonical key of an address as a mail server has it, and of an entry as it stands in a list: what is hashed.
 * Writes the key to `key`, which has room for `room` bytes (BLOOMGATE_MAX_KEY_BYTES are enough), without a NUL; of a
 * pair the two keys with a line feed between. `kind` says what it is; of what is no key `key_bytes` is 0, and `reason`,
 * unless it is null, a word that says why: "missing-at-sign". Fails: BAD_ARGUMENT if there is no room, with `key_bytes`
 * as many as are needed. */
BLOOMGATE_API int bloomgate_canonicalize_address(const bloomgate_filter* filter, const char* text, size_t bytes,
                                                 char* key, size_t room, size_t* key_bytes, int* kind,
                                                 const char** reason);
BLOOMGATE_API int bloomgate_canonicalize_entry(const bloomgate_filter* filter, const char* text, size_t bytes, char* key,
                                               size_t room, size_t* key_bytes, int* kind, const char** reason);

/* The hash by which the bits of a canonical key are found, of an address or a pair of them: in the layouts page, line,
 * ribbon and counting. Fails: UNSUPPORTED_LAYOUT in the others. */
BLOOMGATE_API int bloomgate_hash_key(const bloomgate_filter* filter, const char* key, size_t bytes, uint64_t* hash);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-deprecated-headers,modernize-use-using) */
#endif
