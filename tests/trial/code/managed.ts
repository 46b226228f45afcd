import { createHash } from 'node:crypto';

export function digest(data: Uint8Array): Uint8Array {
  return createHash('sha256').update(data).digest();
}
