// Functions of JavaScript as a user has them: nothing is exported, nothing declared.
const { createHash, createHmac, createCipheriv, createDecipheriv } = require('node:crypto');

function digest(data) {
  return createHash('sha256').update(data).digest();
}

const tag = (key, message) => createHmac('sha256', key).update(message).digest();

function ctr(message, key, nonce) {
  return createCipheriv('aes-128-ctr', key, nonce).update(message);
}

function seal(key, nonce, plaintext, aad) {
  const made = createCipheriv('aes-128-gcm', key, nonce).setAAD(aad);
  const body = made.update(plaintext);
  made.final();
  return Buffer.concat([body, made.getAuthTag()]);
}

function unseal(key, nonce, ciphertext, aad) {
  const end = ciphertext.length - 16;
  const made = createDecipheriv('aes-128-gcm', key, nonce).setAAD(aad).setAuthTag(ciphertext.subarray(end));
  try {
    const body = made.update(ciphertext.subarray(0, end));
    made.final();
    return body;
  } catch {
    return null;
  }
}
