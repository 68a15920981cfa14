import type { Program } from './program.ts'
import { backlogBudget } from './programs/backlog-budget.ts'
import { backup } from './programs/backup.ts'
import { clock } from './programs/clock.ts'
import { cluster } from './programs/cluster.ts'
import { clusterReleases } from './programs/cluster-releases.ts'
import { destinations } from './programs/destinations.ts'
import { disk } from './programs/disk.ts'
import { forgedMessages } from './programs/forged-messages.ts'
import { hostileVariety } from './programs/hostile-variety.ts'
import { kill } from './programs/kill.ts'
import { malformedRequests } from './programs/malformed.ts'
import { poison } from './programs/poison.ts'
import { segments } from './programs/segments.ts'
import { shutdown } from './programs/shutdown.ts'
import { silentNames } from './programs/silent-names.ts'
import { threads } from './programs/threads.ts'
import { upgrade } from './programs/upgrade.ts'
import { waiting } from './programs/waiting.ts'

/** In the order in which they run. */
export const programs: readonly Program[] = [
  kill,
  segments,
  disk,
  destinations,
  silentNames,
  poison,
  forgedMessages,
  shutdown,
  malformedRequests,
  clock,
  upgrade,
  backlogBudget,
  waiting,
  backup,
  threads,
  hostileVariety,
  cluster,
  clusterReleases,
]
