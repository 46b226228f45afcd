/* The keys of the signature rows. They are fixed, so that every process signs with the same key, so that a
 * verifying case fits a signing one, and so that no run waits for the generation of 4096 bits. They protect
 * nothing.
 *
 * Nothing up the sleeve: a number of n bytes starts as the first n bytes of SHAKE256("perbyte <row> p"), "...
 * q" or
 * "... x", e.g. "perbyte rsa-512 p". RSA: the two top bits and the lowest are set, then the next prime whose
 * predecessor 65537 does not divide; the larger prime is p. DSA: top and lowest bit of q are set, then the
 * next prime; top bit of p is set, then down to the next value that is 1 modulo 2q, then upwards in steps of
 * 2q to a prime; x is taken modulo q; g = 2^((p-1)/q) mod p. */
#ifndef PERBYTE_KEY_NUMBERS_H
#define PERBYTE_KEY_NUMBERS_H

#include <stddef.h>

struct key_numbers {
	const char *row;
	const char *p, *q;
	const char *x; /* DSA only */
};

static const struct key_numbers key_numbers[] = {
	{"rsa-512", "cae49660e854155a5af49cb23075074262e44fcfacb1c2e8d9372ce00760a497",
	 "c63eb0a58828191eb5e28b9f6696fa38ed2ca61229f1e505dce13baa224ca98f", NULL},
	{"rsa-1024",
	 "ee2c7849b545a020440873d67c97771a120d90c7f318badfd0371a6265323977f4d047a0d02bfa74adee67f9b9f8b2bc"
	 "3b424081641db9dde2c9748695232833",
	 "da51788676657dfb307788014fedd6632cf2c3858edd19228714d3f467285d2fa330061dee10343e74509c25fb2b37b3"
	 "b52641ebde6cf14ebdc0ae0e00dd73d7",
	 NULL},
	{"rsa-2048",
	 "f53922d732720b7a2338812ad49b5d80c099bb28c7606384ded9e57a6575cb5a49b68004c2922903ccedd78c496dc9d6"
	 "649e3ef3126a29a7dd87c3adcbe60bd4e719649da7342635c525e4725364dfec042ed243c6b068bc586bbca29ffbc8a1"
	 "33a31f7d4a5ce2374e08c4ffc54ba27462dc8dbe3db7ec66234c7ef40849045f",
	 "c49683552ee08fbc8c259f9454a0370657d997045f99ca8520efe0bdda277d2dfdcd8dbea81cde89d60f79ebbfbcd2f5"
	 "3fde13d3e6c68eefdf75fc0f01d1bf14475eb8ad9ab6f3ba411a9d62a103773c57d7ddff930f087e1cb70746821f8984"
	 "a741536d497f94c22adb10d51462e0634cf6c4b5413ea0a7df3493c8310e4273",
	 NULL},
	{"rsa-4096",
	 "faeb719daca5ef221919651a8eec895df24f78d82cf978ba2d2fc080a2db8a6d964ac8c65ac608ed6dfa240768b339ba"
	 "3afefbf86bc498df91119be25006be0a8741d18b6d5753fec0d5f623940d00ba83d100e731f8230aaec0607b6f5e9bb6"
	 "4ff3a7313667ed584aa7860a91775cd0aec9c05a16a017ab3832c75b0b0f0ac3fe69127f70b0c78a271a453ec73f4982"
	 "7b2e4d28d1404a3656360da60ca39c2b7a9ded1e32f335145af01d92174698c7ebcc1e769f53d899fb2a80e6fcf3853a"
	 "0a5c781a84fcda51a0f59a0d498cb7f0d9a76b446444ef525802e4e83ec01988a39f40334c836ced835e4ee74beb7608"
	 "06d5f8922f4a00f30423dd3bc05fed0b",
	 "dfc9e253e17b18b8f003790b2a65525daedb759d82d0d9a3ad29f664cd702d2d36b75f28442f4450ef9169d3e1dae9d9"
	 "62012babb98543262fb1fc0531efeefefcf072d2061c68cf92300537ed59affb64ad1efefafc166ab48f5d6ce8af65c1"
	 "0ff624ad1bd19d401e1d50b387071a1247b6478ccdb69f4dad27ff5783a24bd3b0e67f51b3527e3668bc08258682a1dc"
	 "8dd1f276058667391461c57c2406e606dc0bbe5895a6decaaeed918ec9611b9e341774e8bacede17ec9057f946fdadf1"
	 "7d18560da29e5d427575a9197ab8570f30064a6b9f8a446cce308eebb57b708cc9fb6b326f1228c4ccf521c8478ec60f"
	 "5a4dcfd74e7da30dd367588d23a9e95f",
	 NULL},
	{"dsa-512",
	 "9df81e3845d15e71623043a4ab32cba35019c4625b1a63f274ebeae151e037bc85eae11f298bf820b7fb68d1434f11f7"
	 "5abdb86ecd6b67df6012ab295f03d785",
	 "cf3de992c435aa52e08c9305fc05f6f0ad54ad33", "89c80553dd3fd2b54b3e5a22966800118522f63c"},
	{"dsa-1024",
	 "9f88dd25741e258c4b95b539ad8b5d87b3284b31ce4120f19030667bc62067d278396e31d5b248e02869392e3f053a36"
	 "158f3a95b2554022e2793356ac6add0b4ef900919cf4bed46c056127c91e6defc07c2e448fa013cfc92d03288018635b"
	 "cc9a8e4d9b1b7d80064f537f8a8e87d487304ada3a72f6d9226eb8b4d190c9c1",
	 "ed053e4c45d4912f7324a9497c0ff961be5bcacd", "e83f4860ea09b9fc8d36fdc121b7538f470e5717"},
	{"dsa-2048",
	 "90fbdd5d8407942fa7bef241cd163e5f9600f1881dfd19dff13810076878b15ecedfd356f216987e787742d9caab02f6"
	 "18b9cc2005cdb1788994ebafd16f80c7ae8182072e2140ac3710c2e50abf1e3240212b8ba7803b8788483117034479e7"
	 "47ec3aa34f823741d3e9dc3bd07788057ff3dae463f2d39a15336c74e39e6495b275d7be7ea3ca688783bc17cfa1ff0a"
	 "07febd79e778e57d5d409c96d79999d41289df398b01b1a1da8f3e8077237400d4dfaeb97c5d249bf3cc04b576f8e261"
	 "d3585276475eb0223c4cbfca4afa068877110e67a754f4fb3021898ef48b1cca609edc879767c567db7ee1af3bbdff6d"
	 "9433eecdcbadf6dbfacf0ae1eda5c635",
	 "f3514da3987a58ced5ff7b19aa0b205d8c56a81fa08c86b2fbe58f3ee1990023",
	 "b19959d8e69cf291bbe70430e82454889b6d2a2448e396a41eba31e6636ad59a"},
	{NULL, NULL, NULL, NULL},
};

#endif
