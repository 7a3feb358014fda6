import FileText from 'lucide-solid/icons/file-text';
import Folder from 'lucide-solid/icons/folder';
import Paperclip from 'lucide-solid/icons/paperclip';
import Plug from 'lucide-solid/icons/plug';
import { createSignal } from 'solid-js';
import { en } from '../i18n/en';
import { Menu, type MenuItem } from '../kit/Menu';
import { visibleLine } from '../text/visible';
import type { McpResourceView } from '../protocol';
import { useApp } from '../store/context';

/**
 * No platform has one dialog for both files and folders. The resources of tool servers are loaded each
 * time the menu opens, because a server may have started in the meantime.
 */
export function AttachMenu() {
  const app = useApp();
  const [resources, setResources] = createSignal<readonly McpResourceView[]>([]);
  const look = async () => {
    const id = app.project()?.id;
    const found = id === undefined ? [] : await app.attempt(() => app.host.listMcpResources(id));
    if (found && app.project()?.id === id) setResources(found);
  };
  const item = (resource: McpResourceView): MenuItem => ({
    label: visibleLine(resource.name),
    note: visibleLine(resource.server),
    title: visibleLine(resource.description ?? resource.uri),
    icon: Plug,
    run: () => app.attachments.addResource(resource),
  });
  return (
    <Menu
      label={en.attach.add}
      class="composer-attach"
      onOpen={() => void look()}
      more={{ label: en.attach.resources, items: resources().map(item) }}
      items={[
        { label: en.attach.files, icon: FileText, run: () => void app.attachments.pick(false) },
        { label: en.attach.folders, icon: Folder, run: () => void app.attachments.pick(true) },
      ]}
    >
      <Paperclip size={15} aria-hidden="true" />
    </Menu>
  );
}
