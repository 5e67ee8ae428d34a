"""What config/container and scripts/image have, without a container: the programs that are beside Bloomgate's own in the
image, run here, and the files for compose and Kubernetes, read as those programs read them."""

import json
import os
import re
import shlex
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import yaml
from private_mail.filter import REPOSITORY, build_filter_of, built

IMAGE = REPOSITORY / "scripts/image"
CONTAINER = REPOSITORY / "config/container"
SHIPPED = REPOSITORY / "config/bloomgate-milter.conf"
MILTER = IMAGE / "bloomgate-milter"


def names_of_options():
    """As scripts/build-image finds them: by its own command."""
    command, = re.findall(r"(?m)^(sed -n .*) \"\$conf\" \| sort -u", (REPOSITORY / "scripts/build-image").read_text())
    return subprocess.run([*shlex.split(command), SHIPPED], check=True, capture_output=True, text=True).stdout.split()


@pytest.fixture
def start(tmp_path):
    """start(*words, VARIABLE=…): what the daemon's program is started with, or the error."""
    (tmp_path / "names").write_text("\n".join([*names_of_options(), ""]))
    program = tmp_path / "program"
    program.write_text("#!/usr/bin/python3\nimport sys\nprint(repr(sys.argv[1:]))\n")
    program.chmod(0o755)

    def run(*words, **variables):
        ours = {name: value for name, value in os.environ.items() if not name.startswith("BLOOMGATE_")}
        return subprocess.run([MILTER, *words], capture_output=True, text=True, env={
            **ours, "BLOOMGATE_IMAGE_PROGRAM": str(program), "BLOOMGATE_IMAGE_NAMES": str(tmp_path / "names"), **variables})

    return run


def arguments(done):
    assert done.returncode == 0, done.stderr
    return eval(done.stdout)  # what the stub above has printed


def test_the_names_of_the_options_are_those_that_a_file_may_have():
    shown = subprocess.run([built("milter/bloomgate-milter"), "--list-options"], check=True, capture_output=True, text=True)
    names = names_of_options()
    assert set(names) <= {line.split("\t")[1] for line in shown.stdout.splitlines() if line.startswith("option\t")}
    assert {"socket", "whitelist", "log-target", "metrics", "learn"} <= set(names)
    assert not {"config", "reload", "doctor", "json"} & set(names)


@pytest.mark.parametrize("variables, words, want", [
    pytest.param({}, [], [], id="none"),
    pytest.param({"BLOOMGATE_LOG_LEVEL": "debug"}, [], ["--log-level=debug"], id="one"),
    pytest.param({"BLOOMGATE_OWN_DOMAINS": "a.example .b.example"}, [], ["--own-domains=a.example .b.example"], id="a list"),
    pytest.param({"BLOOMGATE_WHITELIST": "a=/w/a.bloom\nb=/w/b.bloom\n"}, [],
                 ["--whitelist=a=/w/a.bloom", "--whitelist=b=/w/b.bloom"], id="several lines"),
    pytest.param({"BLOOMGATE_REVOKED": "/w/* $(id) `id` \\x"}, [], ["--revoked=/w/* $(id) `id` \\x"], id="nothing is expanded"),
    pytest.param({"BLOOMGATE_REVOKED": ""}, [], [], id="an empty one does not count"),
    pytest.param({"BLOOMGATE_MODE": "observe"}, ["--mode=enforce"], ["--mode=enforce"], id="the command line counts first"),
    pytest.param({"BLOOMGATE_MODE": "observe"}, ["--mode", "enforce"], ["--mode", "enforce"], id="in two words, too"),
    pytest.param({"BLOOMGATE_MODE": "observe"}, ["why", "4XyZ1"], ["--mode=observe", "why", "4XyZ1"], id="a command"),
    pytest.param({"BLOOMGATE_MODE": "observe"}, ["--list-options"], ["--list-options"], id="the words that stand alone"),
    pytest.param({"BLOOMGATE_SERVICE_HOST": "10.0.0.1", "BLOOMGATE_PORT": "tcp://10.0.0.1:8891",
                  "BLOOMGATE_PORT_8891_TCP_ADDR": "10.0.0.1", "BLOOMGATE_METRICS_SERVICE_PORT_HTTP": "1"}, [], [],
                 id="variables of Kubernetes' services"),
])
def test_variables_become_options(start, variables, words, want):
    assert arguments(start(*words, **variables)) == want


@pytest.mark.parametrize("name", ["BLOOMGATE_LOGLEVEL", "BLOOMGATE_RELOAD", "BLOOMGATE_CONFIG", "BLOOMGATE_"])
def test_a_variable_without_an_option_ends_it_and_is_named(start, name):
    done = start(**{name: "1"})
    assert done.returncode == 78
    assert f"there is no option for the variable {name};" in done.stderr


def test_it_becomes_the_daemon_and_no_shell_stays_before_it(start, tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/usr/bin/python3\nimport os\nprint(os.getpid())\n")
    process = subprocess.Popen([MILTER], stdout=subprocess.PIPE, env={
        "PATH": os.environ["PATH"], "BLOOMGATE_IMAGE_PROGRAM": str(program), "BLOOMGATE_IMAGE_NAMES": str(tmp_path / "names")})
    assert int(process.communicate()[0]) == process.pid


class Health(BaseHTTPRequestHandler):
    status, body = 200, ""

    def do_GET(self):
        assert self.path == "/health"
        self.send_response(type(self).status)
        self.end_headers()
        self.wfile.write(type(self).body.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def health():
    """health(status, body, config=…, variable=…): runs the program beside a daemon that answers so."""
    with HTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield lambda status, body, **how: ask_health(server.server_port, status, body, **how)
        server.shutdown()


def ask_health(port, status, body, folder, config="", variable=""):
    Health.status, Health.body = status, body
    file = folder / "bloomgate-milter.conf"
    file.write_text(config.format(port=port))
    script = folder / "bloomgate-health"
    script.write_text((IMAGE / "bloomgate-health").read_text().replace("/etc/bloomgate/bloomgate-milter.conf", str(file)))
    return subprocess.run(["bash", script], capture_output=True, text=True, env={
        "PATH": os.environ["PATH"], **({"BLOOMGATE_METRICS": variable.format(port=port)} if variable else {})})


@pytest.mark.parametrize("how", [
    {"config": "mode = observe\nmetrics = 127.0.0.1:{port} # here\n"}, {"variable": "127.0.0.1:{port}"},
    {"variable": "0.0.0.0:{port}"}, {"config": "metrics = 192.0.2.1:1\n", "variable": "127.0.0.1:{port}"}])
def test_health_is_asked_where_the_daemon_shows_it(health, tmp_path, how):
    assert health(200, "{}", folder=tmp_path, **how).returncode == 0
    failing = health(503, '{"status": "failing"}', folder=tmp_path, **how)
    assert failing.returncode == 1 and failing.stdout == 'bloomgate-health: {"status": "failing"}\n'


def test_a_daemon_that_does_not_answer_is_not_well(health, tmp_path):
    done = health(200, "", folder=tmp_path, variable="127.0.0.1:1")
    assert done.returncode == 1 and "nothing answers at 127.0.0.1:1" in done.stdout


@pytest.mark.parametrize("config", ["", "#metrics = 127.0.0.1:{port}\n", "metrics = /run/bloomgate/metrics.sock\n"])
def test_where_health_cannot_be_asked_the_container_is_not_called_ill(health, tmp_path, config):
    done = health(503, "", folder=tmp_path, config=config)
    assert done.returncode == 0 and done.stdout.startswith("bloomgate-health: ")


def compose():
    return yaml.safe_load((CONTAINER / "compose.yaml").read_text())


def kubernetes():
    return [document for file in sorted((CONTAINER / "kubernetes").glob("*.yaml"))
            for document in yaml.safe_load_all(file.read_text())]


def of_kind(kind):
    return [document for document in kubernetes() if document["kind"] == kind]


def test_the_variables_of_compose_are_options(start):
    variables = compose()["services"]["bloomgate"]["environment"]
    assert arguments(start(**variables))


@pytest.mark.parametrize("service", ["bloomgate", "builder"])
def test_in_compose_the_root_is_read_only_and_nothing_has_a_capability(service):
    found = compose()["services"][service]
    assert found["read_only"] is True and found["cap_drop"] == ["ALL"]
    assert found["security_opt"] == ["no-new-privileges:true"] and "ports" not in found


def test_the_volumes_that_compose_names_are_declared():
    found = compose()
    used = {volume.split(":")[0] for service in found["services"].values() for volume in service["volumes"]
            if not volume.startswith("$")}
    assert used == set(found["volumes"])


def test_postfix_beside_it_asks_bloomgate_first_and_then_rspamd():
    script = (CONTAINER / "beside/start-postfix").read_text()
    command = re.search(r"(?s)sed (-e '[^']*' -e '[^']*')", script).group(1)
    main_cf = subprocess.run(["sed", *shlex.split(command), REPOSITORY / "config/mta/postfix-rspamd/main.cf"], check=True,
                             capture_output=True, text=True).stdout
    assert re.findall(r"\{ (\S+),", main_cf) == ["inet:bloomgate:8891", "inet:rspamd:11332", "inet:rspamd:11332"]
    sources = [word for line in re.findall(r"(?m)^COPY ((?:.*\\\n)*.*)$", (CONTAINER / "beside/Containerfile").read_text())
               for word in line.replace("\\\n", " ").split()[:-1]]
    assert sources and all((REPOSITORY / "config" / source).exists() for source in sources)


def pods():
    yield "Deployment", of_kind("Deployment")[0]["spec"]["template"]["spec"]
    yield "CronJob", of_kind("CronJob")[0]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    for job in of_kind("Job"):
        yield job["metadata"]["name"], job["spec"]["template"]["spec"]


@pytest.mark.parametrize("kind, pod", pods())
def test_in_kubernetes_a_pod_is_the_user_of_the_image_without_rights(kind, pod):
    user = int(re.search(r"(?m)^readonly user=(\d+)$", (REPOSITORY / "scripts/build-image").read_text()).group(1))
    assert pod["securityContext"] | {"runAsUser": user, "runAsGroup": user, "fsGroup": user, "runAsNonRoot": True} == \
        pod["securityContext"]
    container, = pod["containers"]
    assert container["securityContext"] == {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
                                            "capabilities": {"drop": ["ALL"]}}
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


def test_in_kubernetes_the_labels_and_the_ports_lead_to_the_daemon():
    deployment, = of_kind("Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    service, = of_kind("Service")
    monitor, = of_kind("ServiceMonitor")
    policy, = of_kind("NetworkPolicy")
    assert deployment["spec"]["selector"]["matchLabels"] == labels == service["spec"]["selector"]
    assert policy["spec"]["podSelector"]["matchLabels"] == labels
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    container, = deployment["spec"]["template"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert {port["name"]: port["port"] for port in service["spec"]["ports"]} == ports == {"milter": 8891, "metrics": 9812}
    assert {each["port"] for each in monitor["spec"]["endpoints"]} <= set(ports)
    for probe in ("readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] in ports


def test_the_configuration_for_kubernetes_is_one_that_the_daemon_takes(tmp_path):
    configuration = next(each for each in of_kind("ConfigMap") if each["metadata"]["name"] == "bloomgate")
    whitelist = tmp_path / "whitelist.bloom"
    build_filter_of(whitelist, ["joe@example.org"])
    file = tmp_path / "bloomgate-milter.conf"
    file.write_text(configuration["data"]["bloomgate-milter.conf"].replace(
        "/var/lib/bloomgate/whitelists/whitelist.bloom", str(whitelist)))
    assert str(whitelist) in file.read_text()
    done = subprocess.run([built("milter/bloomgate-milter"), "--config", file, "--check-config"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_builder_of_kubernetes_builds_of_the_lists_that_are_mounted(tmp_path):
    container, = next(pod for kind, pod in pods() if kind == "CronJob")["containers"]
    program, *words = container["command"]
    lists = next(each for each in of_kind("ConfigMap") if each["metadata"]["name"] == "bloomgate-lists")["data"]
    for name, content in lists.items():
        (tmp_path / name).write_text(content)
    here = [word.replace("/var/lib/bloomgate/whitelists", str(tmp_path)).replace("/lists", str(tmp_path)) for word in words]
    assert program == "bloomgate"
    subprocess.run([built("filter/cli/bloomgate"), *here], check=True, capture_output=True)
    assert (tmp_path / "whitelist.bloom").exists()


def test_the_jobs_of_kubernetes_read_lists_in_parts_and_build_of_all_parts(tmp_path):
    by_name = {job["metadata"]["name"]: job["spec"] for job in of_kind("Job")}
    reads, builds = by_name["bloomgate-parts"], by_name["bloomgate-of-parts"]
    assert reads["completionMode"] == "Indexed" and builds["suspend"] is True
    for folder in ("lists", "parts", "whitelists", "secret"):
        (tmp_path / folder).mkdir()
    [seed] = [item["path"] for volume in reads["template"]["spec"]["volumes"] if "secret" in volume for item in volume["secret"]["items"]]
    (tmp_path / "secret" / seed).write_text("7")
    (tmp_path / "lists/customers.txt").write_text("".join(f"user{i}@example.org\n" for i in range(10_000)))
    here = [("/var/lib/bloomgate/whitelists", tmp_path / "whitelists"), ("/parts", tmp_path / "parts"), ("/lists", tmp_path / "lists"),
            ("/secret", tmp_path / "secret"), ("/tmp ", f"{tmp_path} ")]

    def run(job, **variables):
        words = job["template"]["spec"]["containers"][0]["command"]
        for old, new in here:
            words = [word.replace(old, str(new)) for word in words]
        subprocess.run(words, check=True, capture_output=True, env={
            "PATH": f"{built('filter/cli/bloomgate').parent}:{os.environ['PATH']}", **variables})

    variables = {each["name"]: "7" for each in reads["template"]["spec"]["containers"][0]["env"]}
    for index in range(reads["completions"]):
        run(reads, JOB_COMPLETION_INDEX=str(index), **variables)
    run(builds)
    shown = subprocess.run([built("filter/cli/bloomgate"), "info", "--json", tmp_path / "whitelists/whitelist.bloom"], check=True,
                           capture_output=True, text=True)
    assert json.loads(shown.stdout)["addresses"] == 10_000
