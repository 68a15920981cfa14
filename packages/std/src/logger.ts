/** Where log lines go: fields for machines, a text for people. */
export interface Logger {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}
