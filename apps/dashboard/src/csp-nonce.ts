/** Nonce of this page's Content-Security-Policy: every style that a script creates has it. */
export function cspNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}
