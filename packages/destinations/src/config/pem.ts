const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g
const LINE_LENGTH = 64

/** The labels of a PEM text's blocks, such as `CERTIFICATE`. */
export function pemBlocks(text: string): string[] {
  return [...text.matchAll(BLOCK)].map(([, label]) => label!)
}

/** The blocks of a PEM text with their lines: form fields and environment variables may have lost the line ends. */
export function plainPem(text: string): string {
  return [...text.matchAll(BLOCK)].map(([block, label, body]) => plainBlock(block, label!, body!)).join('')
}

function plainBlock(block: string, label: string, body: string): string {
  // An old form of encryption has headers, whose lines mean something.
  if (body.includes(':')) return `${block}\n`
  const lines = body.replace(/\s+/g, '').match(new RegExp(`.{1,${LINE_LENGTH}}`, 'g')) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
