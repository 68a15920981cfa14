import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

export const KAFKA_VERSION = '4.4.0'

const FETCH_MS = 540_000
const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1'
// The broker runs without kafka-tools-api, and Maven Central lacks the jar of this version. Without a binding for slf4j 1.7
// the broker logs nothing.
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>brokers</groupId><artifactId>brokers</artifactId><version>0</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA_VERSION}</version>
<exclusions><exclusion><groupId>org.apache.kafka</groupId><artifactId>kafka-tools-api</artifactId></exclusion></exclusions></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies></project>`

/** Where fetched programs are kept between runs, as the XDG specification says. */
export function programCache(
  { XDG_CACHE_HOME }: { readonly XDG_CACHE_HOME?: string | undefined } = process.env,
): string {
  return path.join(XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'millrace')
}

/**
 * Fetches Kafka's jars with Maven, 43 MB, unless an earlier call already did.
 *
 * @param cacheFolder where they are kept; created if missing.
 * @returns the folder that holds the jars.
 * @throws Error that names what is missing: Maven, or the way to its repository.
 */
export async function kafkaJars(cacheFolder: string): Promise<string> {
  const folder = jarsFolder(cacheFolder)
  if (await isThere(folder)) return folder
  await mkdir(cacheFolder, { recursive: true })
  const fetching = await mkdtemp(path.join(cacheFolder, 'fetching-kafka-'))
  try {
    await fetchInto(fetching)
    // A concurrent call may have been faster; its jars are the same.
    await rename(path.join(fetching, 'jars'), folder).catch(() => access(folder))
  } finally {
    await rm(fetching, { recursive: true, force: true })
  }
  return folder
}

/** Whether an earlier call has fetched them. */
export function hasKafkaJars(cacheFolder: string): Promise<boolean> {
  return isThere(jarsFolder(cacheFolder))
}

function jarsFolder(cacheFolder: string): string {
  return path.join(cacheFolder, `kafka-${KAFKA_VERSION}`)
}

async function fetchInto(folder: string): Promise<void> {
  await writeFile(path.join(folder, 'pom.xml'), POM)
  const goal = [`${DEPENDENCY_PLUGIN}:copy-dependencies`, '-DincludeScope=runtime', '-DoutputDirectory=jars']
  try {
    await promisify(execFile)('mvn', ['--quiet', '--batch-mode', ...goal], { cwd: folder, timeout: FETCH_MS })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error('Kafka needs Maven (mvn), which is not installed')
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`Maven could not fetch Kafka ${KAFKA_VERSION}: ${(stdout + stderr).trim().slice(0, 500)}`, {
      cause: error,
    })
  }
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
