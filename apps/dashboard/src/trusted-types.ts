/** A DOM type that TypeScript does not know yet. */
interface TrustedTypes {
  createPolicy(name: string, rules: { readonly createHTML: (text: string) => string }): unknown
}

/*
 * Libraries set only one kind of text as HTML: CSS of style elements. Text with a `<` is markup, and is refused.
 * Scripts and their addresses are never set from text (contracts/dashboard.md §13).
 */
const { trustedTypes } = window as { trustedTypes?: TrustedTypes }
trustedTypes?.createPolicy('default', {
  createHTML(text) {
    if (text.includes('<')) throw new TypeError('This text would become markup')
    return text
  },
})

export {}
