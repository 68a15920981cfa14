/** Does work that reads the configuration. If the text of a field is not JSON, that field gets the focus instead. */
export type WhenRead = (work: () => void) => void
