import { pino } from 'pino'

export type ServerLogger = pino.Logger

/** Logs as JSON lines to stderr, so that stdout is left for people and data. Normal work is silent. */
export function newLogger(level: string): ServerLogger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }))
}
