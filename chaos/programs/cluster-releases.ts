import { join } from 'node:path'
import { Cluster } from '../cluster/cluster.ts'
import { cannot } from '../machine.ts'
import { checkOut, PREVIOUS_CLUSTER_RELEASE } from '../previous-release.ts'
import type { Program } from '../program.ts'
import { breakCluster, cluster } from './cluster.ts'

/** The program `cluster` with one process of each role from the previous release: readers and writers of both meet. */
export const clusterReleases: Program = {
  id: 'cluster-releases',
  title: 'the same of a cluster of two releases',
  limitSeconds: cluster.limitSeconds,
  cannotRun: () => Cluster.obstacle() ?? cannot.readCommit(PREVIOUS_CLUSTER_RELEASE),
  run(run) {
    const previous = join(run.folder, 'previous')
    checkOut(PREVIOUS_CLUSTER_RELEASE, previous)
    return breakCluster(run, { previous })
  },
}
