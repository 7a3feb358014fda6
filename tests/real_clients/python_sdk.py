"""The main flow with the Python package. Arguments: the server's address, its password."""

import base64
import sys

from opencode_ai import Opencode

url, password = sys.argv[1:3]
token = base64.b64encode(f"opencode:{password}".encode()).decode()
headers = {"authorization": f"Basic {token}"}
client = Opencode(base_url=url, default_headers=headers, timeout=20, max_retries=0)
session = client.session.create(extra_body={})
# The package is older than the field `model`.
model = {"providerID": "talk", "modelID": "m"}
client.session.chat(
    session.id,
    model_id="m",
    provider_id="talk",
    parts=[{"type": "text", "text": "Hi"}],
    extra_body={"model": model},
)
messages = client.session.messages(session.id)
assert [part.text for part in messages[1].parts if part.type == "text"] == ["Hello from the model."]
assert any(one.id == session.id for one in client.session.list())
assert client.app.providers().default["talk"] == "m"
assert client.session.abort(session.id)
assert client.session.delete(session.id)
print("1 passed, 0 failed")
