import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts secrets at rest with AES-256-GCM. A sealed text is base64 of: nonce (12 bytes), ciphertext, tag (16 bytes).
 * The context, such as the id of the row, is authenticated: a sealed text that is moved to another row does not open.
 *
 * @see contracts/control-plane.md §11
 */
export class SecretBox {
  readonly #key: Uint8Array
  readonly #random: (byteCount: number) => Uint8Array

  /** @param key 32 bytes. */
  constructor(key: Uint8Array, random: (byteCount: number) => Uint8Array) {
    if (key.length !== 32) throw new Error(`a secret key must have 32 bytes, not ${key.length}`)
    this.#key = key
    this.#random = random
  }

  seal(text: string, context: string): string {
    const nonce = this.#random(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    cipher.setAAD(Buffer.from(context))
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')
  }

  /** @throws Error if the text was sealed with another key or context, or was modified. */
  open(sealed: string, context: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  }

  /** Identifies this key without revealing it. */
  get keyCheck(): string {
    return createHmac('sha256', this.#key).update('millrace control plane: key check').digest('hex')
  }

  fits(keyCheck: string): boolean {
    const given = Buffer.from(keyCheck, 'hex')
    const own = Buffer.from(this.keyCheck, 'hex')
    return given.length === own.length && timingSafeEqual(given, own)
  }
}
