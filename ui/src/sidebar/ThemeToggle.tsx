import Monitor from 'lucide-solid/icons/monitor';
import Moon from 'lucide-solid/icons/moon';
import Sun from 'lucide-solid/icons/sun';
import { en } from '../i18n/en';
import { IconButton, type Icon } from '../kit/Button';
import type { Theme } from '../protocol';
import { useApp } from '../store/context';

const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const ICON: Record<Theme, Icon> = { system: Monitor, light: Sun, dark: Moon };

/** Cycles through system, light and dark. */
export function ThemeToggle() {
  const app = useApp();
  const theme = () => app.settings.theme;
  return (
    <IconButton
      data-testid="theme-toggle"
      icon={ICON[theme()]}
      label={`${en.theme.label}: ${en.theme[theme()]}`}
      onClick={() => app.setTheme(NEXT[theme()])}
    />
  );
}
