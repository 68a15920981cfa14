// Marks that turn or hide what stands after them: shown as escapes, so that a payload reads as it is.
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g

/** A text of a stranger with everything to be seen in it. */
export function shownText(text: string): string {
  return text.replace(UNSEEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Of a failure of user code what failed; where it did stands in the lines below. */
export function firstLine(reason: string): string {
  return reason.split('\n', 1)[0]!
}

/** A value as JSON over several lines, with everything to be seen in it; it still parses to the same value. */
export function jsonText(value: unknown): string {
  return shownText(JSON.stringify(value, null, 2) ?? 'undefined')
}
