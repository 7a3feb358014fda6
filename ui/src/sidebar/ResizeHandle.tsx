import { en } from '../i18n/en';
import { ResizeHandle as Handle } from '../kit/ResizeHandle';
import { useApp } from '../store/context';

/** Resizes the sidebar. */
export function ResizeHandle() {
  const app = useApp();
  return (
    <Handle
      label={en.sidebar.resize}
      pane=".frame-side"
      edge="right"
      width={app.settings.sidebarWidth}
      least={190}
      most={440}
      step={16}
      onResize={(sidebarWidth) => app.setSidebar({ sidebarWidth })}
    />
  );
}
