import { EgressRules } from '@millrace/delivery'
import { showUrl } from '../../config/setting-texts.ts'
import type { Settings } from '../../config/settings.ts'
import { type Finding, ok, warn } from './finding.ts'

/** The addresses that destinations may use. @see contracts/delivery.md §9 */
export function checkEgress({ egressAllow, egressDeny, egressProxy, host }: Settings): Finding[] {
  const rules = new EgressRules({ allow: egressAllow, deny: egressDeny, listenHost: host })
  const mayReach = (hostname: string) => rules.judgeHost({ hostname, port: 443, isConfigured: true }) === undefined
  const parts = [
    'public addresses allowed, private ones refused',
    ...(egressAllow === undefined ? [] : [`but allowed: ${egressAllow}`]),
    ...(egressAllow === undefined && mayReach('127.0.0.1')
      ? ['loopback allowed for configured destinations, because the server listens on loopback only']
      : []),
    ...(egressDeny === undefined ? [] : [`denied: ${egressDeny}`]),
  ]
  const findings = [ok('egress', parts.join('; '))]
  if (egressProxy !== undefined) {
    const text = `all calls go through ${showUrl(egressProxy)}, which resolves names: only the lists of hosts apply to a name`
    findings.push(warn('egress', text))
  }
  return findings
}
