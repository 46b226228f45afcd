/* What OpenSSL says about the CPU, and whether a CPU tier is really in force. */
#ifndef PERBYTE_OPENSSL_CAPABILITIES_H
#define PERBYTE_OPENSSL_CAPABILITIES_H

/* OpenSSL's own words, OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS), with the names of the bits that the tiers
 * touch. */
const char *openssl_cpu_features(void);

/* 1 if the capabilities are those of the tier: `full`, `soft` or `tables`. The tier's environment variable is
 * read by a constructor of the library, so nothing can be switched from here; it can only be seen. */
int openssl_tier_in_force(const char *tier);

#endif
