/** HTML that is safe to put into HTML. */
export interface Markup {
  readonly text: string
}

/** Builds HTML; what is put into it is escaped unless it is markup already. */
export function html(parts: TemplateStringsArray, ...values: readonly unknown[]): Markup {
  return { text: parts.reduce((text, part, i) => text + markupOf(values[i - 1]).text + part) }
}

/** HTML of our own making. */
export function raw(text: string): Markup {
  return { text }
}

export function code(text: string): Markup {
  return html`<code>${text}</code>`
}

/** Paragraphs, in which words in backticks are code. */
export function prose(text: string, element: 'p' | 'span' = 'p'): Markup {
  if (text === '') return raw('')
  const paragraphs = text.split('\n\n').map((paragraph) => {
    const words = paragraph.split('`').map((part, i) => (i % 2 === 1 ? code(part) : html`${part}`))
    return html`${raw(`<${element}>`)}${words}${raw(`</${element}>`)}`
  })
  return html`${paragraphs}`
}

/** An example as JSON, or as the text that it is. */
export function example(value: unknown): Markup {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
  // What is short reads better on one line.
  const dense = text.replace(/([[{])\n\s+([^[\]{}]{1,60}?)\n\s+([\]}])/g, (_, start, inner, end) => {
    return `${start}${inner.replace(/\n\s+/g, ' ')}${end}`
  })
  return html`<pre tabindex="0"><code>${dense}</code></pre>`
}

function markupOf(value: unknown): Markup {
  if (Array.isArray(value)) return raw(value.map((each) => markupOf(each).text).join(''))
  if (typeof value === 'object' && value !== null) return value as Markup
  return raw(value === undefined ? '' : escaped(String(value)))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (each) => ENTITIES[each]!)
}
