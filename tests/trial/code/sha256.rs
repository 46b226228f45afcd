const K: [u32; 64] = [0x428a2f98,0x71374491,0xb5c0fbcf,0xe9b5dba5,0x3956c25b,0x59f111f1,0x923f82a4,0xab1c5ed5,0xd807aa98,0x12835b01,0x243185be,0x550c7dc3,0x72be5d74,0x80deb1fe,0x9bdc06a7,0xc19bf174,0xe49b69c1,0xefbe4786,0x0fc19dc6,0x240ca1cc,0x2de92c6f,0x4a7484aa,0x5cb0a9dc,0x76f988da,0x983e5152,0xa831c66d,0xb00327c8,0xbf597fc7,0xc6e00bf3,0xd5a79147,0x06ca6351,0x14292967,0x27b70a85,0x2e1b2138,0x4d2c6dfc,0x53380d13,0x650a7354,0x766a0abb,0x81c2c92e,0x92722c85,0xa2bfe8a1,0xa81a664b,0xc24b8b70,0xc76c51a3,0xd192e819,0xd6990624,0xf40e3585,0x106aa070,0x19a4c116,0x1e376c08,0x2748774c,0x34b0bcb5,0x391c0cb3,0x4ed8aa4a,0x5b9cca4f,0x682e6ff3,0x748f82ee,0x78a5636f,0x84c87814,0x8cc70208,0x90befffa,0xa4506ceb,0xbef9a3f7,0xc67178f2];
fn block(s: &mut [u32; 8], p: &[u8]) {
    let mut w = [0u32; 64];
    for i in 0..16 { w[i] = u32::from_be_bytes(p[4*i..4*i+4].try_into().unwrap()); }
    for i in 16..64 {
        let (a, b) = (w[i-15], w[i-2]);
        w[i] = w[i-16].wrapping_add(a.rotate_right(7)^a.rotate_right(18)^(a>>3)).wrapping_add(w[i-7]).wrapping_add(b.rotate_right(17)^b.rotate_right(19)^(b>>10));
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *s;
    for i in 0..64 {
        let t1 = h.wrapping_add(e.rotate_right(6)^e.rotate_right(11)^e.rotate_right(25)).wrapping_add((e&f)^(!e&g)).wrapping_add(K[i]).wrapping_add(w[i]);
        let t2 = (a.rotate_right(2)^a.rotate_right(13)^a.rotate_right(22)).wrapping_add((a&b)^(a&c)^(b&c));
        h=g; g=f; f=e; e=d.wrapping_add(t1); d=c; c=b; b=a; a=t1.wrapping_add(t2);
    }
    for (x, y) in s.iter_mut().zip([a,b,c,d,e,f,g,h]) { *x = x.wrapping_add(y); }
}
pub fn sha256(data: &[u8]) -> [u8; 32] {
    let mut s = [0x6a09e667u32,0xbb67ae85,0x3c6ef372,0xa54ff53a,0x510e527f,0x9b05688c,0x1f83d9ab,0x5be0cd19];
    let mut it = data.chunks_exact(64);
    for p in &mut it { block(&mut s, p); }
    let r = it.remainder();
    let mut last = [0u8; 128];
    last[..r.len()].copy_from_slice(r);
    last[r.len()] = 0x80;
    let m = if r.len() < 56 { 64 } else { 128 };
    last[m-8..m].copy_from_slice(&((data.len() as u64) * 8).to_be_bytes());
    for p in last[..m].chunks_exact(64) { block(&mut s, p); }
    let mut out = [0u8; 32];
    for (o, x) in out.chunks_exact_mut(4).zip(s) { o.copy_from_slice(&x.to_be_bytes()); }
    out
}
