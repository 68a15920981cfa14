import type { Replay } from '@millrace/api-types'
import { expect, test } from 'vitest'
import { estimateText, progressShare, progressText, replayKind } from './replay-words.ts'

const replay = (fields: Partial<Replay>): Replay => ({
  id: 'r',
  origin: 'log',
  kind: 'replay',
  dryRun: false,
  state: 'running',
  matched: 200,
  taken: 100,
  delivered: 40,
  filtered: 5,
  deadLettered: 4,
  discarded: 1,
  damaged: false,
  sourceIds: [],
  destinationIds: [],
  from: null,
  to: null,
  rateEventsPerSecond: 100,
  createdBy: 'ops@cinema.example',
  createdAt: '2026-03-05T10:00:00.000Z',
  finishedAt: null,
  ...fields,
})

test('progress counts every end that an event can find', () => {
  expect(progressText(replay({}))).toBe('50 of 200')
  expect(progressShare(replay({}))).toBe(0.25)
})

test('until it is counted there is no progress to tell of', () => {
  expect(progressText(replay({ matched: null }))).toBe('counting …')
  expect(progressShare(replay({ matched: null }))).toBe(0)
})

test('a job that only counts, and one that found nothing, are whole when they are done', () => {
  expect(progressText(replay({ dryRun: true, state: 'done' }))).toBe('200 events')
  expect(progressShare(replay({ dryRun: true, state: 'done' }))).toBe(1)
  expect(progressShare(replay({ matched: 0, state: 'done' }))).toBe(1)
})

test.each([
  [replay({}), 'Replay of the log'],
  [replay({ dryRun: true }), 'Replay of the log, dry run'],
  [replay({ origin: 'dead_letters' }), 'Dead letters replayed'],
  [replay({ origin: 'dead_letters', kind: 'discard' }), 'Dead letters discarded'],
])('what a job does is said in words: %#', (job, words) => {
  expect(replayKind(job)).toBe(words)
})

test('an estimate says how many, how long and how fast', () => {
  expect(estimateText(5120, 100)).toBe('5,120 events, about 52 s at 100/s')
  expect(estimateText(1, 2000)).toBe('1 event, about 1 s at 2,000/s')
})
