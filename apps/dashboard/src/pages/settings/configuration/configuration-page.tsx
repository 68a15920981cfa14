import { Button } from '@mantine/core'
import { commandLine } from '@millrace/wording'
import { useConfiguration } from '../../../api/configuration.ts'
import { ApiPopover } from '../../../components/api-popover.tsx'
import { JsonView } from '../../../components/json/json-view.tsx'
import { saveFile } from '../../../components/save-file.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { CommandLine } from '../command-line.tsx'
import styles from '../settings.module.css'
import { SettingsHead } from '../settings-head.tsx'
import { configurationFile, FILE_NAME } from './configuration-file.ts'

/** The workspace as a file, and the commands that apply it. */
export function ConfigurationPage() {
  const reading = useConfiguration()
  return (
    <>
      <SettingsHead actions={<ApiPopover path="/v2/config" />} />
      <Shown of={reading}>
        {({ revision, document }) => (
          <div className={styles.parts}>
            <section className={styles.part} aria-label="Download">
              <h2>Configuration as code</h2>
              <p>
                Sources, destinations, connections, transformations and libraries at revision {revision}, as one file.
                Users, tokens and credentials are no part of it; secrets read ******** and are kept where they are.
              </p>
              <Button
                onClick={() => saveFile(FILE_NAME, new Blob([configurationFile(document)], { type: 'text/plain' }))}
              >
                Download {FILE_NAME}
              </Button>
            </section>
            <section className={styles.part} aria-label="Commands">
              <h2>Plan and apply</h2>
              <ul className={styles.commands}>
                <li>
                  <CommandLine command={commandFor('plan')}>
                    Shows what the file would change, and changes nothing.
                  </CommandLine>
                </li>
                <li>
                  <CommandLine command={commandFor('apply')}>Applies the plan, all or nothing.</CommandLine>
                </li>
              </ul>
              <p className={styles.dim}>Set MILLRACE_TOKEN to your token.</p>
            </section>
            <section className={styles.part} aria-label="Document">
              <h2>Document</h2>
              <JsonView value={document} what="configuration" maxHeight={480} />
            </section>
          </div>
        )}
      </Shown>
    </>
  )
}

function commandFor(action: 'plan' | 'apply'): string {
  return commandLine(action, '--file', FILE_NAME, '--url', window.location.origin)
}
