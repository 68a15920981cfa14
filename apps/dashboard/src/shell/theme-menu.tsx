import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { Icon, type IconName } from './icon.tsx'

const THEMES = [
  { value: 'auto', text: 'System', icon: 'system' },
  { value: 'light', text: 'Light', icon: 'sun' },
  { value: 'dark', text: 'Dark', icon: 'moon' },
] as const satisfies { value: string; text: string; icon: IconName }[]

export function ThemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const current = THEMES.find(({ value }) => value === colorScheme) ?? THEMES[0]
  return (
    <Menu position="bottom-end" width={160}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={32} aria-label={`Theme: ${current.text}`}>
          <Icon name={current.icon} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {THEMES.map(({ value, text }) => (
          <Menu.RadioItem
            key={value}
            value={value}
            checked={value === current.value}
            onClick={() => setColorScheme(value)}
          >
            {text}
          </Menu.RadioItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
