/** Fields of a member's header. */
export interface TarHeader {
  readonly name: string
  readonly sizeBytes: number
  /** Seconds since 1970. */
  readonly modifiedAt: number
}

/** A tar file consists of blocks of this size. */
export const BLOCK_BYTES = 512
/** Bytes after the last member. */
export const END_BYTES = 2 * BLOCK_BYTES

/** These bytes are not a header that `tarHeader` wrote. */
export class TarFormatError extends Error {
  override readonly name = 'TarFormatError'
  readonly code = 'tar_format'
}

/*
 * A header of the format ustar (POSIX.1-1988), one block; numbers are octal texts. A size of 8 GiB and more does not
 * fit its 11 digits: as in GNU tar, the top bit is set and the number follows, big-endian.
 *
 *     0  100  name             148   8  checksum        265  32  user name
 *   100    8  mode             156   1  type, 0: file   297  32  group name
 *   108    8  uid              157 100  link name       329  16  device
 *   116    8  gid              257   6  ustar\0         345 155  prefix of the name
 *   124   12  size             263   2  version, 00     500  12  nothing
 *   136   12  time
 */
const MAX_OCTAL = 8 ** 11 - 1
const CHECKSUM_AT = 148

/** A header that every tar program reads; only the owner may read the files, as in the data folder. */
export function tarHeader({ name, sizeBytes, modifiedAt }: TarHeader): Buffer {
  if (!/^[\x21-\x7e]{1,100}$/.test(name)) throw new Error(`"${name}" is not a valid tar member name`)
  const header = Buffer.alloc(BLOCK_BYTES)
  header.write(name, 0, 'latin1')
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  if (sizeBytes <= MAX_OCTAL) header.write(`${octal(sizeBytes, 11)}\0`, 124)
  else {
    header[124] = 0x80
    header.writeBigUInt64BE(BigInt(sizeBytes), 128)
  }
  header.write(`${octal(modifiedAt, 11)}\0`, 136)
  header.write('0', 156)
  header.write('ustar\x0000', 257, 'latin1')
  header.write(`${octal(checksumOf(header), 6)}\0 `, CHECKSUM_AT)
  return header
}

/**
 * Reads a header that `tarHeader` wrote, and rejects any other: every byte must match.
 *
 * @returns undefined for the block of zeros that ends a tar file.
 * @throws TarFormatError
 */
export function readTarHeader(block: Buffer): TarHeader | undefined {
  if (isZero(block)) return undefined
  const nameEnd = block.indexOf(0)
  const size = block[124] === 0x80 ? Number(block.readBigUInt64BE(128)) : number(block, 124)
  const header = {
    name: block.toString('latin1', 0, nameEnd === -1 || nameEnd > 100 ? 100 : nameEnd),
    sizeBytes: size,
    modifiedAt: number(block, 136),
  }
  const isOurs = /^[\x21-\x7e]{1,100}$/.test(header.name) && Number.isSafeInteger(size) && header.modifiedAt >= 0
  if (!isOurs || !tarHeader(header).equals(block)) throw new TarFormatError('a member is missing')
  return header
}

/** Zeros that fill the last block of a member. */
export function paddingOf(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}

/** The sum of all bytes, where the bytes of the checksum count as spaces. */
function checksumOf(header: Buffer): number {
  const copy = Buffer.from(header).fill(' ', CHECKSUM_AT, CHECKSUM_AT + 8)
  return copy.reduce((sum, byte) => sum + byte, 0)
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

function number(block: Buffer, at: number): number {
  const digits = block.toString('latin1', at, at + 11)
  return /^[0-7]{11}$/.test(digits) ? Number.parseInt(digits, 8) : -1
}
