import { Button, Select, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { Code, CodeWritten } from '../../api/code.ts'
import { useCreateLibrary } from '../../api/libraries.ts'
import { useCreateTransformation, useTransformationTemplates } from '../../api/transformations.ts'
import { Dialog } from '../../components/dialog.tsx'
import { fieldRefusal, Refusal } from '../../components/form/refusal.tsx'
import { LANGUAGES } from './code-columns.tsx'
import styles from './transformations.module.css'

const FIELDS = ['name']
const EMPTY_EVENT = 'export function transformEvent(event, metadata) {\n  return event\n}\n'
const EMPTY_LIBRARY = 'export function toCents(price) {\n  return Math.round(price * 100)\n}\n'
/** Minimal code with only the entry function. */
const NO_TEMPLATE = ''

interface NewCodeProps {
  readonly onClose: () => void
}

/** Creates a transformation from a template, as a draft. */
export function NewTransformation({ onClose }: NewCodeProps) {
  const templates = useTransformationTemplates().data ?? []
  const { mutateAsync, error } = useCreateTransformation()
  const [templateId, setTemplateId] = useState(NO_TEMPLATE)
  const template = templates.find(({ id }) => id === templateId)
  return (
    <NewCode
      title="New transformation"
      hint="Add cents"
      error={error}
      language={template?.language}
      onCreate={async (written) => {
        const { body } = await mutateAsync({ ...written, code: template?.code ?? EMPTY_EVENT })
        return `/transformations/${body.transformation.id}/code`
      }}
      onClose={onClose}
    >
      <Select
        label="Template"
        description={template?.description ?? 'A function that returns the event unchanged.'}
        data={[
          { value: NO_TEMPLATE, label: 'Empty' },
          ...templates.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={templateId}
        onChange={(id) => setTemplateId(id ?? NO_TEMPLATE)}
        allowDeselect={false}
      />
    </NewCode>
  )
}

export function NewLibrary({ onClose }: NewCodeProps) {
  const { mutateAsync, error } = useCreateLibrary()
  return (
    <NewCode
      title="New library"
      hint="Price Rules"
      error={error}
      onCreate={async (written) => {
        const { body } = await mutateAsync({ ...written, code: EMPTY_LIBRARY })
        return `/libraries/${body.library.id}/code`
      }}
      onClose={onClose}
    />
  )
}

interface FormProps extends NewCodeProps {
  readonly title: string
  /** Example of a name. */
  readonly hint: string
  readonly error: Error | null
  /** Language of a template; without it the user chooses. */
  readonly language?: Code['language'] | undefined
  readonly children?: ReactNode
  /** @returns the path of the next page. */
  readonly onCreate: (written: Omit<CodeWritten, 'code'>) => Promise<string>
}

function NewCode({ title, hint, error, language, children, onCreate, onClose }: FormProps) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<Code['language']>('javascript')
  const [isCreating, setCreating] = useState(false)
  const navigate = useNavigate()
  const refused = fieldRefusal(error, FIELDS)
  const create = async (event: FormEvent) => {
    event.preventDefault()
    setCreating(true)
    try {
      await navigate({ to: await onCreate({ name, language: language ?? chosen }) })
    } catch {
      // The form shows the error.
      setCreating(false)
    }
  }
  return (
    <Dialog title={title} isWriting={isCreating} onClose={onClose}>
      <form className={styles.form} onSubmit={(event) => void create(event)}>
        <Refusal error={error} fields={FIELDS} />
        <TextInput
          label="Name"
          placeholder={hint}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          error={refused?.text}
          required
          maxLength={200}
          data-autofocus
        />
        {children}
        <Select
          label="Language"
          data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          value={language ?? chosen}
          onChange={(value) => setChosen(value as Code['language'])}
          disabled={language !== undefined}
          allowDeselect={false}
        />
        <div className={styles.actions}>
          <Button variant="default" disabled={isCreating} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isCreating}>
            Create draft
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
