import type { Command } from 'commander'

/** Filters of dead letters, as options of a command. */
export interface DeadLetterFilters {
  readonly destination?: string
  readonly source?: string
  readonly stage?: string
  readonly reason?: string
  readonly user?: string
  readonly message?: string
  readonly from?: string
  readonly to?: string
}

/** Names of the filters in the API. */
export const FILTER_NAMES: Record<keyof DeadLetterFilters, string> = {
  destination: 'destinationId',
  source: 'sourceId',
  stage: 'stage',
  reason: 'reason',
  user: 'userId',
  message: 'messageId',
  from: 'from',
  to: 'to',
}

/** @param hasState whether the command shows dead letters of all states. */
export function withDeadLetterFilters(command: Command, hasState: boolean): Command {
  command
    .option('--destination <destination>', 'only of this destination: its id, key or name')
    .option('--source <source>', 'only of this source: its id, key or name')
    .option('--stage <stage>', 'user_transformation, dest_transformation, delivery or internal')
    .option('--reason <reason>', 'only with this reason')
  if (hasState) command.option('--state <state>', 'open (default), replaying, resolved or discarded')
  return command
    .option('--user <id>', 'only of this userId')
    .option('--message <id>', 'only of this messageId')
    .option('--from <time>', 'dead-lettered at or after this time')
    .option('--to <time>', 'dead-lettered before this time')
}
