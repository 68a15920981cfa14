import { pino } from 'pino'

export type ServerLogger = pino.Logger

/** Logs JSON lines to stderr; stdout is for people and data. Normal work logs nothing. */
export function newLogger(level: string): ServerLogger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }))
}
