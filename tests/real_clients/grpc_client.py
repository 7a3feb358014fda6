"""The message service with grpcio: sends a message, reads the messages, follows and aborts a turn.

Arguments: host and port, the password, the folder of the .proto files, two sessions.
"""

import base64
import sys
import tempfile
import threading
from pathlib import Path

import grpc
import grpc_tools
from grpc_tools import protoc
address, password, proto, session, slow = sys.argv[1:6]
out = tempfile.mkdtemp()
known = str(Path(grpc_tools.__file__).parent / "_proto")
assert protoc.main(["protoc", f"-I{known}", f"-I{proto}", f"--python_out={out}", f"--grpc_python_out={out}", "message.proto", "tool.proto"]) == 0
sys.path.insert(0, out)
import message_pb2 as m
import message_pb2_grpc as service
token = base64.b64encode(f"opencode:{password}".encode()).decode()
metadata = [("authorization", "Basic " + token)]
stub = service.MessageServiceStub(grpc.insecure_channel(address))
try:
    stub.GetMessages(m.GetMessagesRequest(session_id=session), timeout=20)
    sys.exit("it answers without the password")
except grpc.RpcError as error:
    assert error.code() == grpc.StatusCode.UNAUTHENTICATED, error
def prompt(words): 
    return m.Part(text=m.TextPart(text=words))
stub.SendMessage(m.SendMessageRequest(session_id=session, parts=[prompt("Hi")], model=m.ModelSelection(provider_id="talk", model_id="m")), metadata=metadata, timeout=20)
found = stub.GetMessages(m.GetMessagesRequest(session_id=session), metadata=metadata, timeout=20)
texts = [part.text.text for one in found.with_parts for part in one.parts if part.text.text]
assert texts == ["Hi", "Hello from the model."], texts
events = stub.StreamEvents(m.StreamEventsRequest(session_id=slow), metadata=metadata, timeout=40)
begun = threading.Event()
def follow():
    try:
        for event in events:
            if "I begin" in str(event): begun.set()
    except grpc.RpcError: pass
threading.Thread(target=follow, daemon=True).start()
waiting = stub.SendMessage.future(m.SendMessageRequest(session_id=slow, parts=[prompt("Wait")], model=m.ModelSelection(provider_id="slow", model_id="m")), metadata=metadata, timeout=40)
assert begun.wait(20), "no text came"
stub.AbortSession(m.AbortSessionRequest(session_id=slow), metadata=metadata, timeout=20)
waiting.result()
last = stub.GetMessages(m.GetMessagesRequest(session_id=slow), metadata=metadata, timeout=20).with_parts[-1]
assert "abort" in str(last.info).lower(), last
print("1 passed, 0 failed")
