/* The tables that the files of the Nettle runner give to its main, and the modes of operation as Nettle does
 * them: a generic function that calls the cipher through a pointer. */
#ifndef PERBYTE_NETTLE_TABLES_H
#define PERBYTE_NETTLE_TABLES_H

#include <direct.h>

#include <nettle/cbc.h>
#include <nettle/cfb.h>
#include <nettle/ctr.h>
#include <nettle/nettle-types.h>

extern const pb_row block128_rows[];      /* AES, Camellia, Serpent, Twofish */
extern const pb_row block64_rows[];       /* DES, triple DES, Blowfish, RC2, CAST-128 */
extern const pb_row stream_cipher_rows[]; /* RC4, ChaCha20 */
extern const pb_row aead_rows[];
extern const pb_row hash_rows[];
extern const pb_row mac_rows[];
extern const pb_row modern_rows[], public_key_rows[], pair_rows[];

#define SET(NAME, KEYS) static inline int NAME(KEYS *keys, const uint8_t *key, size_t key_len, int inverse)
#define APPLY(NAME, KEYS)                                                                                    \
	static inline void NAME(const uint8_t *in, uint8_t *out, size_t size, KEYS *keys, pb_position *at,   \
				int encrypt)

/* ECB: the cipher's own function takes any number of blocks. */
#define ECB(ID, KEYS, SET_KEY, BLOCK, ENCRYPT, DECRYPT, SETS, INVERSE_SETS)                                  \
	APPLY(ID##_ecb, KEYS)                                                                                \
	{                                                                                                    \
		(void)at;                                                                                    \
		if (encrypt)                                                                                 \
			ENCRYPT(keys, size, out, in);                                                        \
		else                                                                                         \
			DECRYPT(keys, size, out, in);                                                        \
	}                                                                                                    \
	PB_DIRECT_CIPHER(ID##_ecb, KEYS, 0, SET_KEY, ID##_ecb, SETS, #ENCRYPT, INVERSE_SETS, #DECRYPT)

#define CBC(ID, KEYS, SET_KEY, BLOCK, ENCRYPT, DECRYPT, SETS, INVERSE_SETS)                                  \
	APPLY(ID##_cbc, KEYS)                                                                                \
	{                                                                                                    \
		if (encrypt)                                                                                 \
			cbc_encrypt(keys, (nettle_cipher_func *)ENCRYPT, BLOCK, at->iv, size, out, in);      \
		else                                                                                         \
			cbc_decrypt(keys, (nettle_cipher_func *)DECRYPT, BLOCK, at->iv, size, out, in);      \
	}                                                                                                    \
	PB_DIRECT_CIPHER(ID##_cbc, KEYS, BLOCK, SET_KEY, ID##_cbc, SETS, "cbc_encrypt(" #ENCRYPT ")",        \
			 INVERSE_SETS, "cbc_decrypt(" #DECRYPT ")")

/* CBC encryption of AES has functions of its own since Nettle 3.8. */
#define CBC_AES(ID, KEYS, SET_KEY, BLOCK, ENCRYPT, DECRYPT, SETS, INVERSE_SETS)                              \
	APPLY(ID##_cbc, KEYS)                                                                                \
	{                                                                                                    \
		if (encrypt)                                                                                 \
			cbc_##ID##_encrypt(keys, at->iv, size, out, in);                                     \
		else                                                                                         \
			cbc_decrypt(keys, (nettle_cipher_func *)DECRYPT, BLOCK, at->iv, size, out, in);      \
	}                                                                                                    \
	PB_DIRECT_CIPHER(ID##_cbc, KEYS, BLOCK, SET_KEY, ID##_cbc, SETS, "cbc_" #ID "_encrypt",              \
			 INVERSE_SETS, "cbc_decrypt(" #DECRYPT ")")

/* Both ways under the schedule for encryption. A call ends at a block: what is left of a key stream block is
 * lost. */
#define CTR(ID, KEYS, SET_KEY, BLOCK, ENCRYPT, SETS)                                                         \
	APPLY(ID##_ctr, KEYS)                                                                                \
	{                                                                                                    \
		(void)encrypt;                                                                               \
		ctr_crypt(keys, (nettle_cipher_func *)ENCRYPT, BLOCK, at->iv, size, out, in);                \
	}                                                                                                    \
	PB_DIRECT_CIPHER(ID##_ctr, KEYS, BLOCK, SET_KEY, ID##_ctr, SETS, "ctr_crypt(" #ENCRYPT ")", SETS,    \
			 "ctr_crypt(" #ENCRYPT ")")

#define CFB(ID, KEYS, SET_KEY, BLOCK, ENCRYPT, SETS)                                                         \
	APPLY(ID##_cfb, KEYS)                                                                                \
	{                                                                                                    \
		if (encrypt)                                                                                 \
			cfb_encrypt(keys, (nettle_cipher_func *)ENCRYPT, BLOCK, at->iv, size, out, in);      \
		else                                                                                         \
			cfb_decrypt(keys, (nettle_cipher_func *)ENCRYPT, BLOCK, at->iv, size, out, in);      \
	}                                                                                                    \
	PB_DIRECT_CIPHER(ID##_cfb, KEYS, BLOCK, SET_KEY, ID##_cfb, SETS, "cfb_encrypt(" #ENCRYPT ")", SETS,  \
			 "cfb_decrypt(" #ENCRYPT ")")

#endif
