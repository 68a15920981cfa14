export type AnswerClass = 'delivered' | 'retry' | 'abort'

/**
 * What a status means for the event. @see contracts/delivery.md §2 [D602]
 */
export function classOfStatus(status: number): AnswerClass {
  if (status >= 200 && status < 300) return 'delivered'
  if (status >= 500 || status < 200) return 'retry'
  return status === 401 || status === 403 || status === 408 || status === 429 ? 'retry' : 'abort'
}
