/** What an answer of a destination means for the event. @see contracts/delivery.md §2 [D602] */
export type AnswerClass = 'delivered' | 'retry' | 'abort'

/**
 * A destination's own judgement of an answer: its class, or the status that the answer stands for. `unauthorised`: no event can be
 * sent until a person changes something; the text says what, without secrets.
 */
export type Judgement = AnswerClass | number | { readonly unauthorised: string }

/** What an answer says about one event of a batch; `resend`: the batch was refused because of its other events. */
export type BatchOutcome = AnswerClass | 'resend'
