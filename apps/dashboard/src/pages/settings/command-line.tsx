import { CopyButton } from '../../components/copy-button.tsx'
import styles from './settings.module.css'

interface CommandLineProps {
  /** The effect of the command. */
  readonly children: string
  readonly command: string
}

/** A command to copy, with its effect above. */
export function CommandLine({ children, command }: CommandLineProps) {
  return (
    <div className={styles.command}>
      <span className={styles.dim}>{children}</span>
      <div className={styles.commandText}>
        <code>{command}</code>
        <CopyButton text={command} what="command" />
      </div>
    </div>
  )
}
