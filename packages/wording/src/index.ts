export { durationText } from './duration.ts'
export { counted, grouped } from './numbers.ts'
export { type ReplayCounts, replayOutcome } from './replay-outcome.ts'
export { type WaitCause, type Waiting, waitingSentence } from './waiting.ts'
