/** Of this page's Content-Security-Policy: every style that a script makes carries it. */
export function cspNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}
