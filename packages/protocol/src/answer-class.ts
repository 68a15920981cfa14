/** What an answer of a destination means for the event. @see contracts/delivery.md §2 [D602] */
export type AnswerClass = 'delivered' | 'retry' | 'abort'
