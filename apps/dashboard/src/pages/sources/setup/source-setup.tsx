import { Button } from '@mantine/core'
import { useState } from 'react'
import { useAdminInfo } from '../../../api/health.ts'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { ShownId } from '../../../components/shown-id.tsx'
import { sourceTexts } from '../../../texts.ts'
import type { SourceTabProps } from '../source-tab-props.ts'
import styles from '../sources.module.css'
import { FirstEvent } from './first-event.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'
import { Snippets } from './snippets.tsx'

/** The data that an app needs to send, and whether events arrive. @see contracts/dashboard.md §2, J4 */
export function SourceSetup({ source }: SourceTabProps) {
  const [isRotating, setRotating] = useState(false)
  const { data: info } = useAdminInfo()
  const publicUrl = info?.settings['MILLRACE_PUBLIC_URL']
  const url = typeof publicUrl === 'string' ? publicUrl : window.location.origin
  return (
    <div className={styles.sections}>
      <section className={styles.panel}>
        <dl className={styles.facts}>
          <div>
            <dt>{sourceTexts.writeKey}</dt>
            <dd>
              <ShownId id={source.writeKey} what="write key" />
            </dd>
          </div>
          <div>
            <dt>Data plane URL</dt>
            <dd>
              <ShownId id={url} what="URL" />
            </dd>
          </div>
        </dl>
        <NeedsRole role="editor">
          <Button variant="default" onClick={() => setRotating(true)}>
            Rotate key
          </Button>
        </NeedsRole>
      </section>
      <FirstEvent source={source} />
      <Snippets source={source} url={url} />
      {isRotating && <RotateKeyDialog source={source} onClose={() => setRotating(false)} />}
    </div>
  )
}
