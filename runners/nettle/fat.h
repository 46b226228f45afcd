/* What Nettle says about the CPU. It speaks only once, on standard error, from a constructor that runs before
 * main and only where NETTLE_FAT_VERBOSE is set; so a copy of this program is started with it, and listened
 * to. */
#ifndef PERBYTE_NETTLE_FAT_H
#define PERBYTE_NETTLE_FAT_H

/* The argument by which such a copy knows that it has said everything before its main began. */
#define FAT_COPY "--fat-words"

/* Listen once. Returns 0, or -1 if no copy could be started; a Nettle built without run-time selection says
 * nothing. */
int fat_listen(void);

/* All that was said, line by line; "" if nothing was. */
const char *fat_words(void);

/* The list behind "cpu features:", e.g. "vendor:amd,aesni,sha_ni,pclmul". */
const char *fat_features(void);

/* 1 if the line "libnettle: using <what> instructions." was among the words. */
int fat_uses(const char *what);

#endif
