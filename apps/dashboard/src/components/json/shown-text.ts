// Characters that reverse or hide the following text: shown as escapes, so the payload is readable as it is.
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g

/** A text from outside with every character visible. */
export function shownText(text: string): string {
  return text.replace(UNSEEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The first line of a user-code failure; the lines below show the place. */
export function firstLine(reason: string): string {
  return reason.split('\n', 1)[0]!
}

/** A value as indented JSON, with every character visible; it parses to the same value. */
export function jsonText(value: unknown): string {
  return shownText(JSON.stringify(value, null, 2) ?? 'undefined')
}
