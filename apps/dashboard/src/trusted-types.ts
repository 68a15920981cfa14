/** Of the DOM; TypeScript does not know it yet. */
interface TrustedTypes {
  createPolicy(name: string, rules: { readonly createHTML: (text: string) => string }): unknown
}

/*
 * The only text that libraries set as HTML is CSS of style elements. Whatever has a `<` is markup, and is refused; scripts
 * and their addresses are never set from text at all (contracts/dashboard.md §13).
 */
const { trustedTypes } = window as { trustedTypes?: TrustedTypes }
trustedTypes?.createPolicy('default', {
  createHTML(text) {
    if (text.includes('<')) throw new TypeError('This text would become markup')
    return text
  },
})

export {}
