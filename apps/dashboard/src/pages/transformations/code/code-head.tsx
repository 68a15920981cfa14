import { Button, Select, TextInput } from '@mantine/core'
import type { Code } from '../../../api/code.ts'
import { fieldRefusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { LANGUAGES } from '../code-columns.tsx'
import { hasDraft } from '../code-kind.ts'
import styles from '../transformations.module.css'
import type { WrittenCode } from './use-written-code.ts'

/** Those that show their own refusal. */
export const HEAD_FIELDS = ['name']

interface CodeHeadProps {
  readonly code: Code
  readonly writing: WrittenCode
  readonly onPublish: () => void
}

/** What the code is called, and the buttons that save and publish it. */
export function CodeHead({ code, writing, onPublish }: CodeHeadProps) {
  const { written, change, isDirty } = writing
  return (
    <div className={styles.codeHead}>
      <TextInput
        aria-label="Name"
        className={styles.name}
        value={written.name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        error={fieldRefusal(writing.error, HEAD_FIELDS)?.text}
      />
      <TextInput
        aria-label="Description"
        placeholder="Description"
        className={styles.description}
        value={written.description}
        onChange={({ currentTarget }) => change({ description: currentTarget.value })}
      />
      <Select
        aria-label="Language"
        className={styles.language}
        data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        value={written.language}
        onChange={(value) => change({ language: value as Code['language'] })}
        allowDeselect={false}
      />
      <div className={styles.codeActions}>
        <span className={styles.dim} role="status">
          {isDirty ? 'Not saved' : ''}
        </span>
        <NeedsRole role="editor">
          <Button variant="default" disabled={!isDirty} loading={writing.isSaving} onClick={() => void writing.save()}>
            Save
          </Button>
        </NeedsRole>
        <NeedsRole role="editor">
          <Button disabled={writing.isSaving || (!isDirty && !hasDraft(code))} onClick={onPublish}>
            Publish
          </Button>
        </NeedsRole>
      </div>
    </div>
  )
}
