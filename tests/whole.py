"""The tests that `make test` leaves to `make test-all`, because they are costly and others run the same code.

Each entry names the cases that `make test` keeps, and what the others alone would catch. `pytest FILE`
runs all of them: so a change in their room is tried.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Costly(NamedTuple):
    """A test, or a file without `::`; `kept` has patterns for the cases that are not costly."""

    name: str
    alone: str
    kept: tuple[str, ...] = ()


COSTLY = (
    # Daemons and programs
    Costly("dual_homing/test_kernel.py", "a state of failures in which bonds and FRR do not do what the verdict says"),
    Costly("dcim/test_nautobot.py::test_nautobot", "a fabric of 20 switches, a killed run, and edits by other people"),
    Costly("dcim/test_nautobot.py::test_vlans_are_written_once_and_corrected", "VLANs that Nautobot stores otherwise"),
    Costly("handoff/test_killed_runs.py::test_a_killed_run_ends_with_the_old_or_the_new_configuration",
           "a kill at the other moments of the role", ("apply-patch-5", "reload-7")),
    Costly("handoff/test_lint.py", "what ansible-lint refuses"),
    Costly("isolation/test_kernel.py::test_packets_pass_as_the_verdict_says", "other faults of tenants in the kernel",
           ("evpn: as rendered", "acl: missing rule")),
    Costly("isolation/test_evpn.py::test_own_rendering_is_proved_apart", "a check of EVPN on another release",
           ("202605",)),
    Costly("isolation/test_releases.py::test_every_level_on_every_release", "a row that another release refuses",
           ("acl-202411", "vrf-202305", "evpn-202411")),
    Costly("isolation/test_yang.py::test_libyang_accepts_every_file", "a row that libyang refuses in another release",
           ("evpn-202411",)),
    Costly("isolation/test_yang.py::test_rows_are_those_that_libyang_accepted", "rows that libyang has not seen",
           ("evpn-202411",)),
    Costly("isolation/test_yang.py::test_libyang_refuses_a_fault", "other faults of rows of tenants",
           ("all VNIs-202411",)),
    Costly("isolation/test_yang.py::test_validate_refuses_what_libyang_refuses", "the same faults without models",
           ("all VNIs-202411", "all VNIs-202605")),
    Costly("handoff/test_play.py::test_a_vtep_gets_its_frr_conf", "frr.conf that the playbooks do not bring to a VTEP"),
    Costly("handoff/test_play.py::test_drain_undrain_and_replace", "the playbooks that take a switch out of service"),
    Costly("handoff/test_play.py::test_drain_and_undrain_of_unnumbered_sessions", "the drain of unnumbered fabrics"),
    Costly("handoff/test_play.py::test_verify_and_collect_find_wrong_sessions_and_cables", "the playbook verify"),
    Costly("handoff/test_slurm.py::test_slurmctld_loads_every_example", "the other examples in Slurm", ("quickstart",)),
    Costly("handoff/test_slurm.py::test_slurmctld_complains_of_a_wrong_line", "a slurmctld that words it otherwise"),
    Costly("routing/frr/test_real_frr.py::test_next_hops_equal_frr", "routes of other fabrics, dialects and failures",
           ("4x2 shared, two failures",)),
    Costly("routing/frr/test_new_asns.py::test_other_switches_keep_their_routes", "new ASNs that cut real sessions"),
    Costly("routing/frr/test_real_frr.py::test_verdict_on_what_frr_forwards", "a cycle that FRR does not forward"),
    Costly("gitops/test_pipelines.py::test_the_reviewer_sees_what_changes", "the summary and the comment of GitHub"),
    Costly("gitops/test_action.py::test_pictures_of_other_pull_requests_are_kept", "a lost branch of pictures"),
    Costly("gitops/test_action.py::test_a_wrong_change_fails_and_is_uploaded", "a SARIF file that is not uploaded"),
    Costly("gitops/test_action.py::test_a_clean_change", "an action that fails without a reason"),
    Costly("gitops/test_action.py::test_a_hand_edit_fails", "an action that judges a render and not the bundle"),
    Costly("gitops/test_action.py::test_files_of_templates_are_judged", "an action that forgets `templates`"),
    Costly("gitops/test_pipelines.py::test_ci_renders_and_commits_the_bundle", "a recipe that commits a wrong file"),
    Costly("gitops/test_pipelines.py::test_the_reviewer_of_a_merge_request_sees_it", "the comment of GitLab"),
    Costly("gitops/test_hooks.py::test_a_clean_change_is_committed_and_bad_ones_are_not", "hooks of pre-commit"),
    Costly("gitops/test_pipelines.py::test_pipeline", "the verdicts of pipelines on other changes",
           ("github-wrong_priority",)),
    Costly("packaging/test_tutorial.py", "a command of the tutorial that fails in an empty environment"),
    Costly("site/test_site.py", "a site whose links are broken, though those of the pages are not"),
    Costly("page/test_browser.py::test_6016_switches", "a report that a browser opens slowly"),
    Costly("page/test_browser.py::test_growth_in_colour", "a color of new switches that the page lacks"),
    Costly("page/test_browser.py::test_a_matrix", "a matrix that a browser draws wrongly"),
    Costly("page/test_browser.py::test_a_comparison", "the page of `compare`"),
    Costly("page/test_browser.py::test_pods_that_are_matrices", "pods of a large fabric in a browser"),
    Costly("page/test_browser.py::test_routers_outside_are_drawn", "routers outside in a browser"),
    Costly("page/test_browser.py::test_a_torus_has_arrows_and_true_words", "a congestion tree without its arrows"),
    Costly("page/test_browser.py::test_infiniband", "the words of a plane of subnet managers"),
    Costly("page/test_browser.py::test_the_legend_is_true_of_all_lines", "a legend of one line of several"),
    Costly("page/test_browser.py::test_planes_and_the_phone", "planes on a wide screen", ("390",)),
    Costly("page/test_tenants.py::test_the_picture_shows_one_tenant", "a color of a tenant"),
    Costly("page/test_tenants.py::test_partitions_of_infiniband", "tenants of a subnet in a browser"),
    Costly("page/test_tenants.py::test_64_tenants_are_a_grid", "a page that grows with the square of tenants"),
    Costly("packaging/test_packages.py::test_twine_accepts_both", "metadata that twine refuses, as a release would"),
    Costly("packaging/test_packages.py::test_the_metadata_has_the_urls_of_the_project", "metadata without an address"),
    Costly("packaging/test_packages.py::test_the_source_archive_builds_the_same_wheel", "a file the archive lacks"),
    Costly("packaging/test_wheel.py::test_a_program_uses_the_api_of_the_wheel", "types that the wheel lacks"),
    Costly("packaging/test_wheel.py::test_init_then_check", "a resource that only these verbs read"),
    Costly("packaging/test_wheel.py::test_the_manual_has_a_page_for_each_command", "a manual that the wheel lacks"),
    Costly("packaging/test_wheel.py::test_every_code_is_explained_offline", "one page of a code that the wheel lacks"),
    Costly("extensions/test_inside.py", "a member of the project that takes more than its file"),
    Costly("benchmarks/test_growth.py", "work that grows faster than the fabric"),
    Costly("benchmarks/test_mutants.py::test_a_sample_of_the_mutants",
           "a second mutant of each table, and one of some tables",
           ("B*-0", "P*-0", "DSCP*-0", "WRED*-0", "STATIC*-0", "INTERFACE-0")),
    Costly("benchmarks/test_mutants.py::test_a_sample_of_the_named_faults", "two of three faults of the sample",
           ("*-missing", "acl-*", "wred-*", "session*", "vlan-*", "fec-none", "mtu-*", "speed-*")),
    Costly("extensions/test_extending.py::test_a_design", "a design that takes more than its module"),
    Costly("extensions/test_extending.py::test_a_filter", "a filter that takes more than its function"),
    Costly("extensions/test_extending.py::test_a_first_layout", "a layout that takes more than its entry"),
    Costly("extensions/test_extending.py::test_a_format", "a format that takes more than its module"),
    Costly("extensions/test_extending.py::test_a_handoff", "a handoff that takes more than its module"),
    Costly("api/test_workers.py", "a lost Dask worker of render and validate"),
    Costly("simulate/deadlock/test_lost_worker.py", "a lost Dask worker of the sweep"),
    Costly("adopt/test_pyavd.py", "a member that a release of AVD moves"),
    Costly("simulate/deadlock/test_distributed.py", "a sweep that differs on Dask workers"),
    # The real OpenSM
    Costly("simulate/deadlock/infiniband/test_credit_loops.py::test_verdict_equals_ibdmchk",
           "engines on larger tori and other wirings",
           ("three-tier-ftree*", "three-tier-nue*", "torus-5x5-lash*", "torus-5x5-minhop*", "torus-5x5-updn*",
            "dragonfly-lash-*")),
    Costly("simulate/deadlock/infiniband/test_credit_loops.py::test_verdict_equals_that_of_ibdmchk_on_1056_adapters",
           "another engine at that size", ("minhop", "lash")),
    Costly("simulate/opensm/test_qos_levels.py::test_another_level_is_reported",
           "policies that give the level otherwise", ("qos FALSE--0", "*policy4-5")),
    Costly("simulate/deadlock/infiniband/test_fixed_level.py::test_check_is_decided_by_the_fixed_level",
           "a cyclic torus at one service level", ("-0-*",)),
    Costly("simulate/opensm/test_designs.py::test_a_design_and_its_changes", "what OpenSM refuses of other designs",
           ("rails",)),
    Costly("simulate/opensm/test_failures.py::test_the_model_of_trees_equals_opensm", "failures of larger trees",
           ("one spine", "leaves without some uplinks", "host on a spine")),
    Costly("simulate/opensm/test_real_opensm.py::test_mistakes_are_found", "other mistakes that OpenSM words",
           ("ftre-", "sm_priority*", "*both ;*")),
    Costly("simulate/opensm/test_rendered.py::test_the_real_opensm_obeys", "subnets of more than 256 adapters",
           ("two tiers, 256", "dragonfly*")),
    Costly("simulate/opensm/test_seeds.py::test_either_seed_gives_the_same_tables", "seeds of other tori and meshes",
           ("size1*",)),
    Costly("cli/test_designs.py::test_growth_of_an_infiniband_plane_changes_the_lock", "growth of a subnet"),
    Costly("simulate/opensm/test_real_opensm.py::test_good_files_are_proved", "other partitions and options",
           ("partitions0-", "partitions2-*")),
    Costly("simulate/opensm/test_real_opensm.py::test_runs_beside_each_other_do_not_meet", "ports that two runs share"),
    # Larger fabrics, more examples, more draws
    Costly("acceptance/test_faults.py::test_a_fault_is_named", "other faults that a run measures", ("?",)),
    Costly("adopt/test_import.py::test_a_bundle_of_ours_comes_back_whole", "import of large examples",
           ("quickstart", "dynamic")),
    Costly("atomic/test_kills.py::test_a_signal_at_any_step", "other verbs that leave a half",
           ("render-2", "ansible-9")),
    Costly("bundle/test_reads.py::test_loose_files_are_opened_once", "a simulation that reads files twice",
           ("validate",)),
    Costly("cli/test_compare.py::test_candidates_have_the_switches_of_an_exhaustive_search", "1,024 GPUs", ("128-*",)),
    Costly("cli/test_determinism.py", "a verb whose bytes depend on hashes, the order of files, or processes"),
    Costly("cli/test_change_day.py::test_the_plan_keeps_every_host_connected", "other plans that disconnect hosts",
           ("move a host to another leaf", "longer*")),
    Costly("cli/test_compare.py::test_failures_of_a_host_with_two_ports", "failures of hosts with two networks"),
    Costly("cli/test_congestion_options.py::test_failures", "bandwidth after failures of other kinds"),
    Costly("cli/test_compare.py::test_times_are_ordered_as_the_bandwidth_is", "times of packets in another order"),
    Costly("cli/test_designs.py::test_every_format_reports_infiniband", "a format that a subnet breaks"),
    Costly("cli/test_designs.py::test_roce_planes_beside_infiniband_are_judged", "a plane that a subnet hides"),
    Costly("cli/test_drains.py::test_check_counts_without_it_and_says_so", "drains of the other kind of sessions",
           ("*-spine-*-unnumbered", "*-leaf-numbered")),
    Costly("cli/test_examples.py::test_examples_pass", "an example of a large network that does not pass",
           ("border", "explicit", "infiniband", "quickstart", "rail-only")),
    Costly("cli/test_help.py::test_each_example_runs", "an example of one of these verbs that does not run",
           ("fabricgen [!cdhirst]*", "fabricgen ca*", "fabricgen check*", "fabricgen render*")),
    Costly("cli/test_init.py::test_every_example_is_copied_with_its_schema", "another example with a wrong lock file",
           ("border", "infiniband", "quickstart", "rail-only")),
    Costly("cli/test_init.py::test_init_has_the_least_switches", "options that the command passes on wrongly",
           ("rail-optimized",)),
    Costly("cli/test_list.py::test_each_option_is_completed_fast", "an option whose completion imports much",
           ("fabricgen [!hs]* --", "fabricgen simulate congestion --", "* --* *", "fabricgen handoff a")),
    Costly("cli/test_init.py::test_every_design_passes_the_check", "larger tori, meshes and dragonflies of init",
           ("[!tmd]*", "dual-tor-20", "dragonfly-plus-20")),
    Costly("cli/test_init.py::test_every_design_passes_the_check_as_infiniband", "a large network of init as a subnet",
           ("fat-tree",)),
    Costly("deploy/test_plans.py::test_a_plan_that_is_interrupted_anywhere", "interruption of other kinds of plans",
           ("traditional-class added",)),
    Costly("design/test_growth.py::test_growth_keeps_every_link_and_number", "a number that growth moves"),
    Costly("diff/test_plan.py::test_plans_lead_to_the_new_configuration", "plans of the other model for each release",
           ("202605-traditional",)),
    Costly("design/test_published.py::test_meta", "24,576 GPUs as published"),
    Costly("diff/test_plan.py::test_the_command", "a plan that a text leaves out"),
    Costly("diff/test_rehearsal.py::test_every_plan_ends_as_a_cold_boot", "a plan of the other model for each release",
           ("202505-dynamic",)),
    Costly("docs/test_commands.py::test_commands_print_what_the_page_shows", "output of these pages that is old",
           ("README.md", "docs/t*", "docs/howto/a*", "docs/in*", "docs/r*", "docs/h[!o]*")),
    Costly("engine/test_incremental.py::test_two_processes_share_a_folder", "two processes that damage a result"),
    Costly("engine/test_resident.py::test_edits_of_an_explicit_fabric", "edits of links that an inventory lists"),
    Costly("handoff/test_topology.py::test_every_example_is_accepted", "the other examples in Kubernetes",
           ("explicit", "infiniband", "nvl72", "quickstart")),
    Costly("lsp/test_response.py", "an editor that waits for 512 switches"),
    Costly("render/test_planes.py::test_adding_a_plane_changes_no_byte_of_the_others", "a byte that a plane moves"),
    Costly("report/test_headline.py::test_each_statement_of_the_headline_is_true",
           "a headline that is wrong of one of these fabrics",
           ("nothing*", "one spine", "no session at one spine", "all ports*", "one leaf has no PFC",
            "all have PFC on another priority", "a spine is drained", "links of each leaf*", "the port of a host*",
            "an ACL drops RoCE of all hosts", "a spine is isolated by hand", "a table that no rule reads",
            "unnumbered, one end*", "two causes", "one cause*", "copies*", "the inventory*")),
    Costly("report/test_causes.py::test_the_first_line_names_the_fault", "the same faults on rails",
           ("*-explicit", "FG331-rails")),
    Costly("report/test_causes.py::test_the_first_line_names_one_of_two_faults", "the same pairs of faults on rails",
           ("*-explicit", "FG331-*-rails")),
    Costly("report/test_formats.py::test_sarif_of_a_fabric_with_everything_wrong_alike", "a log that a few rules fill",
           ("1",)),
    Costly("rollout/test_rollout.py::test_the_fabric_in_between_is_that_of_its_files", "a wrong mixture"),
    Costly("isolation/test_moves.py::test_the_plan_says_in_which_order", "a move of another level", ("evpn",)),
    Costly("lsp/test_hostile.py::test_texts_that_are_no_inventory", "a text that ends the server"),
    Costly("report/test_bmwg.py::test_incast_and_convergence", "the tables of two patterns"),
    Costly("rules/test_hash_seeds.py", "findings in the order of a set"),
    Costly("rules/test_robust.py::test_seeded_faults_are_found_at_device_and_table", "faults of the other buffer model",
           ("traditional",)),
    Costly("hostile/test_hostile.py::test_a_payload_in_every_text_of_a_file", "a text that a page does not escape"),
    Costly("rules/test_coverage.py::test_every_defect_has_a_case", "a defect without a case, or with two rules"),
    Costly("rules/test_daemon_faults.py::test_in_a_bundle", "a measured fault of the other model, on one switch or all",
           ("*-traditional-all",)),
    Costly("rules/test_daemon_faults.py::test_in_a_lone_file", "the same of a file without its bundle",
           ("*-dynamic-one",)),
    Costly("simulate/congestion/test_agreement.py::test_victims_pauses_roots_and_times", "other draws",
           ("25", "163")),
    Costly("simulate/congestion/test_bandwidth_agreement.py::test_the_worst_failure_is_that_of_packets",
           "a failure that packets rank otherwise"),
    Costly("simulate/congestion/test_balance.py::test_weights_keep_the_bandwidth_behind_parallel_links",
           "weights that do not follow the number of links"),
    Costly("simulate/congestion/test_balance.py::test_a_polarised_tier_uses_one_link", "polarisation of one tier"),
    Costly("simulate/congestion/test_bundles.py::test_the_files_of_hosts_state_the_queue_pairs",
           "queue pairs that a file of hosts states"),
    Costly("simulate/congestion/test_bundles.py::test_one_type_on_two_tiers_polarises", "hashes alike on two tiers"),
    Costly("simulate/congestion/test_bundles.py::test_seeds_without_offsets_polarise_a_linear_hash", "a linear hash"),
    Costly("simulate/congestion/test_cascade.py::test_without_the_flows_of_all_roots_no_flow_is_a_victim",
           "other draws", ("fan-in-2000", "chain-2000", "parking-2000")),
    Costly("simulate/congestion/test_fresh.py::test_every_flow_and_every_victim", "other draws",
           ("fan-in-2000", "chain-2000", "parking-2000")),
    Costly("simulate/congestion/test_fresh.py::test_machine_code_and_arrays_give_the_same_results", "other draws",
           ("ft4-small-2000",)),
    Costly("simulate/congestion/test_cascade.py::test_second_roots_are_those_that_the_first_hide",
           "second roots of a case that has none", ("ft4-large-2000",)),
    Costly("simulate/congestion/test_fresh.py::test_most_flows", "a median that grows"),
    Costly("simulate/congestion/test_cascade.py::test_findings_say_the_round_and_count_the_rest", "words of rounds"),
    Costly("simulate/congestion/test_cascade.py::test_most_cases_of_the_acceptance_set", "the share of measured cases"),
    Costly("simulate/congestion/test_fresh.py::test_bars_of_the_acceptance_set", "the share of fresh cases"),
    Costly("simulate/congestion/test_resolution.py::test_packets_decide_where_nothing_pauses",
           "flows of a few packets"),
    Costly("simulate/deadlock/test_failures.py::test_proofs_agree_with_one_by_one", "a wrong proof"),
    Costly("simulate/deadlock/test_repair.py::test_fat_tree_of_16", "repairs of 320 switches"),
    Costly("simulate/jobs/test_search.py::test_a_proposal_is_better_on_draws_that_the_search_did_not_use", "luck"),
    Costly("simulate/outages/test_outages.py::test_failures_of_1024_gpus_by_brute_force", "orbits of 1,024 GPUs"),
    Costly("simulate/packets/test_credits.py::test_conserves_packets", "a packet that credits lose"),
    Costly("simulate/packets/test_published.py", "figures of papers"),
    Costly("simulate/deadlock/test_certificate.py::test_certificate_of_every_example_holds", "larger examples",
           ("border", "explicit", "nvl72", "quickstart", "rail-only")),
    Costly("simulate/packets/test_second_simulator.py::test_equals_the_second_simulator", "other random scenarios",
           ("?", "61")),
    Costly("simulate/packets/test_worsened.py::test_the_fault_is_found", "the same faults of the other buffer model",
           ("arista*",)),
    Costly("simulate/test_nccl.py::test_an_all_reduce_over_racks_gains_as_published", "the published gain"),
    Costly("simulate/packets/test_balance_of_bundle.py::test_unknown_adapters_go_back_and_the_verdict_says_so",
           "adapters that the catalog does not have"),
    Costly("simulate/test_nccl.py::test_tune_proposes_no_spreading_where_packets_spread", "a proposal without a gain"),
    Costly("simulate/tuning/test_command.py::test_settings_of_the_present_files_are_improved_on_unseen_draws",
           "settings that are not better on other draws"),
    Costly("simulate/tuning/test_command.py::test_dask_has_the_same_result", "tuning on Dask workers"),
    Costly("simulate/tuning/test_command.py::test_another_process_has_the_same_result", "tuning by process"),
)  # fmt: skip
_BY_NAME = {one.name: one for one in COSTLY}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the costly cases. A name of the table that no test has is an error where all tests are collected."""
    seen: set[str] = set()
    for item in items:
        for name in _names(item):
            if costly := _BY_NAME.get(name):
                case = item.callspec.id if hasattr(item, "callspec") else ""
                kept = [pattern for pattern in costly.kept if fnmatchcase(case, pattern)]
                seen |= {name, *((f"{name}[{pattern}]") for pattern in kept)}
                if not kept:
                    item.add_marker(pytest.mark.whole)
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS or _has_all_folders(config.args):
        wanted = {one.name for one in COSTLY} | {f"{one.name}[{pattern}]" for one in COSTLY for pattern in one.kept}
        if missing := sorted(wanted - seen):
            raise pytest.UsageError("tests/whole.py names other tests than there are:\n" + "\n".join(missing))


def _has_all_folders(paths: Sequence[str]) -> bool:
    """Whether a worker of xdist has all tests: it gets the folders as arguments, in an order that conftest.py gives."""
    return all(str(one) in paths for one in Path(__file__).parent.iterdir() if any(one.glob("**/test_*.py")))


def _names(item: Any) -> Iterator[str]:
    path = item.nodeid.partition("::")[0].removeprefix("tests/")
    yield path
    yield f"{path}::{item.originalname}"
