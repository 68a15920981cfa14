import type { Command } from 'commander'
import { type CommandContext, withExample } from '../command.ts'
import type { DoctorOptions } from './doctor.ts'

/** `millrace doctor` */
export function addDoctor(program: Command, { io, exitWith }: CommandContext): void {
  withExample(program.command('doctor [backup]'), 'doctor --quick')
    .description(
      'check this machine: settings, data folder, log, disk, port, in a cluster also Kafka and Postgres; or check a backup file',
    )
    .option('--quick', 'do not read every record of the log and page of the databases')
    .option('--json', 'as JSON')
    .action(async (backup: string | undefined, options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts')
      exitWith(await doctor({ ...options, backup }, io))
    })
}
