import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KafkaCluster } from '../kafka-cluster.ts'

/** Where test files ask for the broker of their run. */
const RUN_URL = 'MILLRACE_TEST_KAFKA_URL'

/**
 * Called by Vitest once before the test files of a run. The broker starts with the first file that asks for it, because most
 * runs need none, and ends with the run.
 */
export async function setup(): Promise<() => Promise<void>> {
  let cluster: Promise<KafkaCluster> | undefined
  const server = createServer(async (_, response) => {
    try {
      cluster ??= KafkaCluster.start({ brokers: 1 })
      response.end(JSON.stringify((await cluster).addresses))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.env[RUN_URL] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async () => {
    server.closeAllConnections()
    server.close()
    // A start that failed was told to the files that asked.
    await (await cluster?.catch(() => undefined))?.[Symbol.asyncDispose]()
  }
}

/** The broker that all test files of one run share. Topics of a file have a prefix of its own. */
export async function brokerOfRun(): Promise<Pick<KafkaCluster, 'addresses'>> {
  const url = process.env[RUN_URL]
  if (url === undefined)
    throw new Error('vitest.config.ts does not start this test with kafka-brokers/testing/test-run.ts')
  const answer = await fetch(url)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the broker of this run did not start: ${text}`)
  return { addresses: JSON.parse(text) }
}
