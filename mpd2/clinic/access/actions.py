"""Everything that can be done, and which role may do it; what is not in the table nobody may do."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What somebody is in an installation."""

    VIEWER = "viewer"  # sees figures about many cases
    READER = "reader"  # sees and answers the cases sent to them
    CLINICIAN = "clinician"  # sees cases, overrides with a reason
    RESEARCHER = "researcher"  # retrains, tunes, imports, exports without ids
    ADMIN = "admin"  # activates runs, sets roster and retention, reads and verifies the record


class Action(StrEnum):
    """What somebody does; the word stands in the record."""

    SIGN_IN = "sign in"
    SIGN_OUT = "sign out"
    SEE_FIGURES = "see figures"
    SEE_CASE = "see a case"
    ROUTE_CASE = "route a case"
    ANSWER_CASE = "answer a case"
    ADD_OUTCOMES = "add outcomes"
    SEE_WORKLIST = "see a worklist"
    ACKNOWLEDGE_ALARM = "acknowledge an alarm"
    OVERRIDE = "override a route"
    NOTE = "write a note"
    UPLOAD = "upload a table"
    MEASURE = "measure a picture"
    TRAIN = "train"
    TUNE = "tune"
    CANCEL_JOB = "cancel a job"
    REMOVE_JOB = "remove a job"
    NAME_RUN = "name a run"
    REMOVE_RUN = "remove a run"
    EXPORT_RUN = "export a run"
    KEEP_PRESET = "keep a preset"
    REMOVE_STUDY = "remove a tuning study"
    PROPOSE_RUN = "propose a run for the clinic"
    ACTIVATE_RUN = "activate a run for the clinic"
    MAKE_WORKSPACE = "make a workspace"
    BUILD_WORKSPACE = "build a workspace"
    ADD_CASES = "add cases to a workspace"
    EXPORT_WORKSPACE = "export a workspace"
    REMOVE_WORKSPACE = "remove a workspace"
    EXPORT_FIGURES = "export figures"
    EXPORT_CASES = "export cases"
    CHANGE_ROSTER = "change the roster"
    CHANGE_SETTING = "change a setting"
    ERASE_CASES = "erase whose cases these were"
    SEE_RECORD = "see the record"
    VERIFY_RECORD = "verify the record"
    EXPORT_RECORD = "export the record"
    ERASE_RECORD = "erase what is past its time"
    BACK_UP_RECORD = "back up the record"
    RESTORE_RECORD = "restore the record"


_EVERYBODY = frozenset(Role)
_CASES = frozenset({Role.CLINICIAN, Role.RESEARCHER, Role.ADMIN})
_LAB = frozenset({Role.RESEARCHER, Role.ADMIN})
_CARE = frozenset({Role.CLINICIAN, Role.ADMIN})
_ADMIN = frozenset({Role.ADMIN})

RULES: dict[Action, frozenset[Role]] = {
    Action.SIGN_IN: _EVERYBODY,
    Action.SIGN_OUT: _EVERYBODY,
    Action.SEE_FIGURES: _EVERYBODY,
    Action.EXPORT_FIGURES: _EVERYBODY,
    Action.SEE_CASE: _CASES | {Role.READER},
    Action.ROUTE_CASE: _CASES,
    Action.NOTE: _CASES | {Role.READER},
    Action.ANSWER_CASE: _CARE | {Role.READER},
    Action.ADD_OUTCOMES: _CASES,
    Action.SEE_WORKLIST: _CASES | {Role.READER},
    Action.ACKNOWLEDGE_ALARM: _CARE,
    Action.OVERRIDE: _CARE,
    Action.MEASURE: _CASES,
    Action.UPLOAD: _CASES,
    Action.EXPORT_CASES: _CARE,
    Action.TRAIN: _LAB,
    Action.TUNE: _LAB,
    Action.CANCEL_JOB: _LAB,
    Action.REMOVE_JOB: _LAB,
    Action.NAME_RUN: _LAB,
    Action.REMOVE_RUN: _LAB,
    Action.EXPORT_RUN: _LAB,
    Action.KEEP_PRESET: _LAB,
    Action.REMOVE_STUDY: _LAB,
    Action.PROPOSE_RUN: _LAB,
    Action.MAKE_WORKSPACE: _LAB,
    Action.BUILD_WORKSPACE: _LAB,
    Action.ADD_CASES: _LAB,
    Action.EXPORT_WORKSPACE: _LAB,
    Action.REMOVE_WORKSPACE: _LAB,
    Action.ACTIVATE_RUN: _ADMIN,
    Action.CHANGE_ROSTER: _ADMIN,
    Action.CHANGE_SETTING: _ADMIN,
    Action.ERASE_CASES: _ADMIN,
    Action.SEE_RECORD: _ADMIN,
    Action.VERIFY_RECORD: _ADMIN,
    Action.EXPORT_RECORD: _ADMIN,
    Action.ERASE_RECORD: _ADMIN,
    Action.BACK_UP_RECORD: _ADMIN,
    Action.RESTORE_RECORD: _ADMIN,
}
