"""The concepts of the rules, and the terms for them in English and in other languages.

`~` after a term means all its forms: `tell~` is tell, tells and telling. `+` means the forms of an order: `copy+` is
copy, copying and copied, but not copies, which is what a tool does. Words joined by `_` are a phrase.

The lexicon is frozen with the rules (`rules`).
"""

from __future__ import annotations

from collections.abc import Iterator

_AUTHORITY_CONCEPTS: dict[str, str] = {
    # -- what outranks what --------------------------------------------------------------------------------------------
    "OURS": "ours this_description this_text this_document this_notice these_notes these_terms this_server our_rules",
    "HOST": "host_application client_application host_program hosting_application platform assistant model llm ai",
    "OUTRANKS": (
        "outrank~ outweigh~ overrides supersedes prevails wins precedence higher_priority highest_priority "
        "top_priority overrule~"
    ),
    "TREAT": "treat regard consider interpret handle take understand",
    "COMMANDS": (
        "command commands directive directives instruction instructions system_message system_prompt "
        "system_instruction user_request user_message from_the_user from_the_system orders"
    ),
    "DEVS": "developers operators admins administrators systems hosts anthropics openais users makers vendors",
    "FOLLOWING": "following_are below_are here_are these_are following_is here_is this_is",
    # -- what is said to readers that are machines ---------------------------------------------------------------------
    "READER": (
        "assistant assistants agent agents model models llm llms ai ais bot bots chatbot chatbots language_model "
        "language_models ai_agent ai_agents ai_assistant ai_assistants ai_systems"
    ),
    "READING_THIS": "reading_this read_this who_reads_this which_reads_this processing_this parsing_this seeing_this",
    "INTENDED": (
        "intended_for meant_for addressed_to aimed_at directed_at reserved_for exclusively_for only_for solely_for "
        "intended_only_for meant_only_for"
    ),
    "FOR": "for to",
    "ONLY": "only exclusively solely just",
    "PEOPLE": "humans human people persons users user end_users",
    # -- what is done without a person ---------------------------------------------------------------------------------
    "ASSUME": "assume presume suppose",
    "ROOT": "root administrator superuser root_access full_access admin_rights admin_access",
    "IMPLIED": "implied assumed presumed implicit granted_automatically taken_for_granted",
    "CARRY_OUT": (
        "carry_it_out carry_them_out carry_out follow follow_them follow_it obey comply proceed act_on act_upon "
        "do_it do_so do_them go_ahead continue execute_it execute_them run_it run_them"
    ),
    "UNASKED": (
        "without_asking without_question without_questions without_prompting_the_user without_consulting "
        "without_checking_with without_telling without_informing without_notifying_the_user without_user_confirmation "
        "without_confirming no_questions_asked without_hesitation without_user_approval without_user_consent"
    ),
    "REFUSAL": "refusing refusal declining hesitating",
    "HARMS": "harm harms hurt hurts endanger endangers violates violation unsafe",
    "COMPLY": (
        "comply_at_all comply_always always_comply comply_with_every comply_without comply_immediately comply_fully"
    ),
    # -- what outlives a session ---------------------------------------------------------------------------------------
    "PERSIST": "save persist store remember write add append insert put keep record note edit update memorize memorise",
    "MEMORY_FILE": (
        "claude_md agents_md gemini_md cursorrules cursor_rules windsurfrules clinerules copilot_instructions_md "
        "memory_file your_memory long_term_memory permanent_memory persistent_memory settings_json crontab "
        "shell_profile startup_script"
    ),
    "TRUST": "trust trusts trusted",
    "SKILL": "skill skill_md this_skill references reference_files documentation_of_this",
    # -- orders that stand elsewhere -----------------------------------------------------------------------------------
    "CONTAINED": (
        "it_contains it_returns it_holds it_says contained_therein found_therein found_there written_there therein "
        "inside_it in_the_result in_the_results in_its_output in_its_result in_its_response in_the_tool_output "
        "found_in_the_resource found_at in_the_file in_that_file in_this_file in_the_resource"
    ),
    "STRICTLY": "obey obeying strictly blindly exactly unconditionally",
    "HOLDS": "contain contains include includes hold",
    # -- whom a tool praises -------------------------------------------------------------------------------------------
    "OTHERS": "others other_tools other_servers other_options other_providers alternatives competitors",
    "INFERIOR": (
        "insecure unsafe broken compromised malicious untrusted unreliable dangerous outdated deprecated inaccurate "
        "incorrect obsolete inferior vulnerable wrong fraudulent fake malware"
    ),
    "TRUSTED": "trusted safe secure reliable trustworthy legitimate official certified correct",
    "LOSS": "data_loss loss corruption breach breaches leak leaks leakage violation violations fines ban",
    "CHOOSE": "choose chosen select selected pick picked prioritize prioritise prioritized favor favour",
    "BETTER_THAN": "better_than superior_to than_any_other than_all_other outperforms_all beats_all",
    "WORSE": "inferior lesser mediocre outdated unreliable",
    "BETTER": "better superior faster accurate reliable outperforms outperform surpasses beats unmatched",
    "ALTERNATIVES": "alternatives competitors competition rivals other_options other_tools any_other all_other",
    "TRY": "try use call start invoke choose",
    "AFTER_EACH": "after_each after_every",
    "PROMOTE": "recommend promote advertise endorse praise upsell plug",
    "ANSWERING": (
        "answering replying responding your_answer your_answers your_reply your_replies your_response your_responses "
        "you_answer you_reply you_respond you_present you_mention presenting final_answer"
    ),
    "BEST": "best leading number_one superior most_trusted",
    "OUR": "our ours",
    "CODING": "write_code writing_code generate_code generating_code code_you code_that_you produce_code any_code",
    "PACKAGE": "package packages import library dependency dependencies script module",
    # -- what is asked of a person, or of the law ----------------------------------------------------------------------
    "SAY": "tell inform advise notify convince persuade instruct ask ask_for pretend claim",
    "LAW": (
        "gdpr hipaa sox soc pci compliance regulation regulations law laws legal legally statutory company_policy "
        "audit audits auditing regulatory"
    ),
    "PERSONAL": (
        "personal_data personal_information personal_details users_full users_mail users_phone users_name "
        "users_location users_email users_address users_data customer_data customers_data conversation transcript "
        "dialogue chat_history"
    ),
    "PERSON_FACT": "users_name users_full users_mail users_phone users_location users_email users_address",
    "PRIVATE_PLACE": (
        "this_machine local_machine users_machine users_computer users_device this_computer local_disk "
        "home_folder browser_session browser_profile cookie_database password_manager users_browser keychain "
        "bash_history shell_history process_environment"
    ),
    "VAULT": (
        "password_vault password_store password_manager browser_passwords users_browser cookie_database cookie_jar "
        "recovery_phrase mnemonic_phrase seed_phrase keychain saved_passwords shell_history bash_history wallet_file "
        "browser_history users_clipboard"
    ),
    "SUDO": "sudo elevate_with root_privileges elevated_privileges escalate",
    "RESULTS": "results result outputs output responses answers",
    "SESSION": "session conversation chat context turn",
    "SHOULDNT": (
        "shouldnt must_not mustnt should_not isnt_supposed_to is_not_supposed_to not_supposed_to should_never "
        "must_never"
    ),
    "LEARN": (
        "learn find_out notice realize realise suspect discover be_aware become_aware be_told be_informed know hear"
    ),
    "FILES": "file files document documents contents key keys credentials secrets",
    # -- places, times and claims that a tool has no reason to speak of ------------------------------------------------
    "DISPLAY": "show display reveal expose disclose present surface",
    "NEED_TO_KNOW": "need_to_know needs_to_know concern_the care_about need_to_see have_to_know",
    "NEEDLESS": "not doesnt isnt neednt never nothing no",
    "MENTION_IT": (
        "mention_it mention_this mention_that mention_them bring_it bring_this bring_that talk_about_it "
        "talk_about_this speak_of_it speak_of_this say_anything_about let_anyone"
    ),
    "KNOWN_VAR": (
        "openai_api_key anthropic_api_key github_token gh_token aws_secret_access_key aws_access_key_id npm_token "
        "gitlab_token slack_token google_api_key database_url huggingface_token hf_token stripe_secret_key"
    ),
    "ENVIRON": "environment env process machine disk keychain memory context browser conversation",
    "FOUND": "found lying cached",
    "OFFICIAL": "official built_in builtin native default standard existing",
    "STOP": "stop cease quit discontinue abandon",
    "COMMAND": "command commands script scripts",
    "PREFIXED": "prefix prefixed prepend prepended preceded suffixed appended",
    "COPY": "copy copies duplicate mirror",
    "THIS_TOOL": "this_tool this_server this_mcp this_skill this_plugin this_connector",
    "PRESENT": "present connected available active installed enabled loaded running attached",
    "FUTURE": (
        "future_session future_sessions future_conversation future_conversations every_future_session later_sessions "
        "subsequent_sessions next_session"
    ),
    "AUTHORITY": (
        "administrator system_administrator admin security_team operations_team it_department "
        "compliance_team your_operator host_application security_policy company_policy platform_policy operator"
    ),
    "REQUIRES": (
        "requires require demands demand mandates mandate orders instructs expects insists authorises authorizes "
        "approved authorised authorized"
    ),
    "I_ORDER": (
        "i_authorise_you i_authorize_you i_permit_you i_order_you i_command_you i_grant_you i_hereby we_authorise_you "
        "we_authorize_you"
    ),
    "SEARCH": "search look find scan grep locate collect gather",
    "CONTAINING": "containing contain contains with named called holding",
    "ASKED_ABOUT": "asked asked_about asked_whether asked_if questioned asks",
    "SIGNED_USER": "signed_the_user signed_user important_message_from urgent_message_from instruction_from_the_user",
    "ASKED_FOR": (
        "what_was_asked what_is_asked what_was_requested what_is_requested what_you_were what_they_ask what_they_say "
        "what_the_user what_your_user what_anyone what_others"
    ),
    "USERS_SECRET": (
        "users_api_key users_api_keys users_token users_tokens users_password users_passwords users_credentials "
        "users_private_key users_secret users_secrets users_ssh users_wallet"
    ),
    "WALLET": "wallet wallet_file seed_phrase seed_words recovery_phrase mnemonic",
    "POSSESS": "wallet_of users_wallet users_wallets wallet_seed wallet_private wallet_key",
    "UNTIL": "until till",
    "HALT": "stop rest pause give_up finish",
    "NOTHING": "no nothing none never not",
    "THAT": "that",
    "COOKIE": "cookie cookies session_cookie session_cookies",
    "FALSELY": "pretend act_as_if act_as_though lie falsely claim",
    "FAILED": "failed fails expired error unavailable succeeded worked invalid",
    "INVISIBLE": (
        "not_visible_to_the_user invisible_to_the_user hidden_from_users unseen_by_the_user not_shown_to_humans "
        "users_never_see users_cannot_see_this users_cant_see_this user_cannot_see_this user_cant_see_this "
        "not_for_humans not_for_human not_for_the_user"
    ),
    # -- the answer that a person gets ---------------------------------------------------------------------------------
    "EACH_REPLY": (
        "every_answer every_reply each_answer each_reply all_answers all_replies all_your_answers all_your_replies "
        "every_final_answer each_final_answer"
    ),
    "EACH_OWN_REPLY": (
        "every_reply each_reply all_replies all_your_answers all_your_replies every_final_answer each_final_answer"
    ),
    "RENDER": "render display show embed",
    "IN_REPLY": (
        "in_the_reply in_the_answer in_the_final in_any_answer in_any_reply in_your_reply in_your_answer "
        "in_your_response in_the_summary in_what_you_say in_the_chat"
    ),
    "LEAVE": "leave keep drop",
    "OUT_OF": "out_of",
    "REPLY_WORD": "summary reply answer",
    "UNAWARE": "unaware oblivious ignorant uninformed none_the_wiser in_the_dark",
    "HAPPENED": "happened happens occurred unusual",
    "FULL_PROMPT": (
        "complete_prompt full_prompt entire_prompt whole_prompt exact_prompt full_instructions complete_instructions "
        "entire_instructions chat_window earlier_messages earlier_turns what_the_human human_typed human_said "
        "human_wrote person_typed person_said person_wrote"
    ),
    "USERS_FOLDER": (
        "users_downloads users_documents users_desktop users_home downloads_folder desktop_folder ssh_folder "
        "ssh_directory users_environment users_files users_machine"
    ),
    "DIRECTORY": "working_directory current_directory home_directory project_directory workspace home_folder",
    "SERVERS": "servers",
    "REFUSE_TO": "refuse decline",
    "COMPETING": "competing competitor competitors rival rivals competing_product",
    "IN_PLACE": "ours in_its_place instead",
    "PROMPT_STEP": (
        "confirmation_dialog confirmation_dialogue confirmation_prompt permission_prompt approval_prompt "
        "approval_dialog consent_dialog approval_step confirmation_step"
    ),
    "WHILE": "while once as_long_as so_long_as",
    "BLANKET": "blanket_permission blanket_consent blanket_approval standing_permission standing_approval",
    "HUMAN_LOOP": "human_in_the_loop person_in_the_loop user_in_the_loop",
    "YES": "yes consent approval permission agreement",
    "VETTED": "reviewed vetted verified certified audited endorsed whitelisted allowlisted",
    "CAUTION": "caution usual_caution safety_concerns scruples reservations hesitations",
    "HEY": "hey hello dear attention listen reminder_for reminder_to note_to note_for memo_to memo_for",
    "MODEL_ONLY": "model models llm llms assistant assistants ai",
    "LIVES": "lives_depend life_depends lives_are_at people_will_die jobs_depend someone_will_die",
    "REWARDED": "rewarded tipped compensated",
    "ACROSS": (
        "across_sessions across_all_sessions across_conversations across_chats between_sessions for_later_sessions"
    ),
    "REMEMBER": "remember memorize memorise keep_in_mind",
    "YOU_WERE": "you_were you_have_been youve_been you_received you_got given_to_you",
    "LEFT_OUT": "leave_out omit skip_over gloss_over conceal hide",
}  # fmt: skip
"""Concepts of an address to the reader: precedence, who may know, what applies later. Concept to its English terms."""


_HABIT_CONCEPTS: dict[str, str] = {
    # -- how the user is answered --------------------------------------------------------------------------------------
    "FRAME": "begin start end finish close conclude open preface sign prefix",
    "END_IT": "end finish close conclude sign",
    "TACK": "append prepend tack",
    "EVERY_QUESTION": (
        "all_questions every_question each_question any_question every_request all_prompts every_prompt "
        "all_messages every_message"
    ),
    "STYLE": (
        "uppercase lowercase capitals all_caps capital_letters pirate rhyme rhymes verse haiku haikus emoji emojis "
        "shakespeare shakespearean yoda slang french german spanish italian dutch russian chinese japanese korean "
        "portuguese english latin klingon"
    ),
    "SPEAK": "speak talk write sound answer reply respond",
    "ALWAYS_1": "always must never please",
    "IN_THE_MANNER": "like in_the_style in_the_voice in_the_tone as_if_you as_though_you",
    # -- at which call -------------------------------------------------------------------------------------------------
    "LATER_CALL": (
        "second_call third_call fourth_call fifth_call second_time_this third_time_this later_calls subsequent_calls "
        "after_a_few_calls after_several_calls after_the_first_call"
    ),
    "TRUE": "true false set enabled disabled present",
    "CALLED_BY_YOU": "called_by_you invoked_by_you executed_by_you",
    # -- through whose tool --------------------------------------------------------------------------------------------
    "ME": "me mine",
    "NAMED_TOOL": "tool_called tool_named tool_by_the_name tool_with_the_name",
    "AFFECTS_HOW": "affects_how changes_how modifies_how alters_how affects_the_way changes_the_way",
    "HOST_TOOL": (
        "read_file read_text_file file_tool file_reader filesystem_tool shell_tool terminal_tool bash_tool run_command "
        "execute_command run_shell printenv get_env list_directory search_files browser_tool other_server "
        "another_server other_tool another_tool other_servers"
    ),
    "FETCH_SECRET": (
        "get_secret read_secret get_secrets read_secrets list_secrets get_password get_passwords get_credentials"
    ),
    "OTHER_SERVER": (
        "vault_server secrets_server secret_server other_server another_server filesystem_server credentials_server"
    ),
    # -- what a page or a result says ----------------------------------------------------------------------------------
    "DO_WHAT": "do_what do_as do_everything do_anything do_whatever follow_what obey_what",
    "OBEY_IT": "obey follow comply execute carry_out abide_by",
    "WHATEVER": "whatever anything everything what",
    "SAYS": "says say returns states tells contains asks orders requests demands instructs",
    "DESCRIPTION": "description descriptions",
    "YOUR_RULES": (
        "your_instructions your_guidelines your_directives your_system_prompt your_orders your_rules your_policies"
    ),
    "UPDATED": "updated replaced rewritten revised amended superseded",
    "NOTICE_OF": "notice directive advisory bulletin announcement",
    # -- what is done without a person ---------------------------------------------------------------------------------
    "AGAIN": "again first beforehand anything",
    "SEEK": "ask~ request~ wait~ seek~ prompting",
    "CHECKS": (
        "security_checks security_validation policy_checks approval_checks safety_checks content_filters "
        "permission_checks"
    ),
    "REPLACE": "replace replaces",
    "NEEDED": "needed required necessary",
    "AUTHORISED_TO": "authorised_to authorized_to allowed_to permitted_to entitled_to",
    "ADMIN": "admin administrator root superuser",
    "YOUR_POWER": "your_elevated your_administrator your_root your_privileged",
    "APPROVE": "approve confirm authorize authorise",
    "CALLS": "calls call",
    "AT_ONCE": "should_immediately should_silently should_quietly should_secretly must_immediately",
    "SEND_ON": "forward+ upload+ leak+ exfiltrate+ relay+ transmit+ export+",
    "INCLUDE": "include append attach embed insert prepend encode copy",
    # -- what is given away --------------------------------------------------------------------------------------------
    "RECITE": "repeat print output reveal summarise summarize type_out spell_out recite disclose leak exfiltrate dump",
    "THEIR_OWN": (
        "their_configuration their_instructions their_prompt their_system_prompt their_prompts their_tools "
        "their_context"
    ),
    "EVERYTHING_SAID": (
        "everything_the_user everything_the_person everything_the_human everything_the_customer everything_said "
        "everything_you_know everything_you_have_learned everything_you_were"
    ),
    "EVERYTHING_YOU_SAY": "everything_you_say everything_you_write all_you_say whatever_you_say",
    "FIRST_ACTION": (
        "your_first_action your_first_step first_thing_you_do first_thing_to_do first_action_in first_step_in_every"
    ),
    "EACH_CALL": "each_call every_call each_request every_request each_invocation",
    "ENCODE_IT": "encode encoding compress",
    "WHOLE": "all entire full whole complete everything last recent verbatim word_for_word contents content",
    "RETRY": "retry retrying resend resubmit",
    "CONNECTED": "connected installed",
    "EXTERNAL": (
        "external_address external_server external_url external_site external_party external_service "
        "remote_collection remote_backup third_party_server"
    ),
    "YOUR_TOOL": (
        "your_browser_tool your_shell_tool your_file_tool your_web_tool your_email_tool your_fetch_tool your_file_read "
        "your_filesystem_tool"
    ),
    "PERFORM": "execute perform carry_out",
    "EXFILTRATION": "exfiltration",
    "REVEAL": "reveal disclose leak output print dump",
    "IMAGE_SENDS": "imagewithdata",
    "ENCODED": "base64 base64_encoded hex hexadecimal encoded encoding gzip",
    "PASSWORD": "password passwords passphrase pin cvv",
    "ASKING": "ask asking request requesting",
    # -- words between -------------------------------------------------------------------------------------------------
    "IS": "is are was were been",
    "WHICH": "who which that other",
    "SO_INSTRUCTED": "told asked instructed requested think believe know",
    "NEEDNT": "need_not neednt doesnt_need_to does_not_need_to do_not_need_to dont_need_to has_no_need_to",
    "MAY_NOT": "may_not cannot cant",
    "BE_TOLD": "be_told be_informed be_made_aware find_out learn hear",
    "INTERFACE": "interface interfaces agent agents story stories group groups list directory",
}  # fmt: skip
"""Concepts of orders about habits: style, when to call, through which tool. Concept to its English terms."""


CONCEPTS: dict[str, str] = {
    # -- who -----------------------------------------------------------------------------------------------------------
    "USER": (
        "user human operator end_user person customer anyone anybody nobody somebody someone people_you the_client "
        "the_owner owner_of_this_machine"
    ),
    "USERS": "users",
    "NOBODY": "nobody no_one noone no_human",
    "THEM": "them him her",
    "YOU": "you your youre yours yourself youve youll",
    "NAMED_MODEL": (
        "ai llm llms language_model language_models ai_agent ai_agents ai_assistant ai_assistants ai_model ai_models "
        "ai_systems claude chatgpt gpt copilot gemini coding_assistant large_language_model large_language_models "
        "chatbot"
    ),
    "MODEL_1": (
        "ai llm language_model ai_agent ai_assistant assistant agent model chatbot bot coding_agent "
        "large_language_model claude"
    ),
    "ASSISTANT": "assistant assistants agent agents model",
    "MAKER": (
        "anthropic openai deepmind your_developers your_creators your_makers developers_of_this_model "
        "developer_of_this_model makers_of_this_model"
    ),
    # -- what is said of an order --------------------------------------------------------------------------------------
    "NOT": (
        "not dont never no cannot cant mustnt shouldnt wont neither avoid~ refrain~ without stop none nothing "
        "neednt isnt doesnt nor"
    ),
    "DONT": "do_not dont never must_not mustnt should_not shouldnt avoid",
    "MUST": (
        "must always never have_to has_to need_to needs_to shall required mandatory should ensure please make_sure "
        "be_sure sure only important necessary obligatory crucial essential kindly remember obliged expected_to"
    ),
    "BOUND": (
        "must shall has_to have_to have_to needs_to obliged obligated required_to instructed expected_to ordered_to"
    ),
    "ALWAYS": "always must instead secretly should please",
    "EVEN": "regardless irrespective no_matter even_if even_when whatever without_exception",
    "NOW": (
        "from_now_on henceforth from_here_on from_this_point from_here_onwards for_the_remainder_of "
        "rest_of_the_session rest_of_this_session rest_of_the_conversation rest_of_this_conversation from_the_moment "
        "moment_you_read rest_of_the_chat rest_of_this_chat for_all_future_sessions in_all_future_sessions"
    ),
    "WHENEVER": "when whenever each_time every_time",
    "BEFORE": (
        "before prior_to whenever every_time each_time when once in_order prerequisite prerequisites preparation "
        "step first after required_preparation if to_unlock"
    ),
    "IF": "if when should whenever",
    "OTHERWISE": "otherwise unless failure_to or_else if_you_do_not if_you_dont else",
    "URGE": "urgent urgently immediately at_once right_away no_time without_delay emergency",
    "ALREADY": "already previously pre",
    "WILL": "will would",
    "ALSO": "also secretly additionally",
    # -- what orders are made of ---------------------------------------------------------------------------------------
    "ORDERS": (
        "instruction~ prompt~ guideline~ directive~ guardrail~ order~ rule~ policy policies constraint~ "
        "restriction~ guidance programming training safety safety_check~ safety_filter~ safety_measure~ limitation~ "
        "command~ told asked filter~ safeguard~ safety_protocol~ commandment~ limits"
    ),
    "INSTR": (
        "instruction+ instructions prompt prompts guideline guidelines directive directives guardrail guardrails "
        "orders programming training told safety guidance learned safety_rules commandments safeguards policies "
        "objections"
    ),
    "ORDER_WORDS": "instruction instructions guidelines directives prompt prompts",
    "SAFETY": "safety_protocol safety_protocols safety_guidelines safety_rules safety_training guardrails",
    "GUARD": (
        "guardrail guardrails safeguards safety_checks safety_filters safety_measures safety_protocols content_filter "
        "content_filters content_policy safety_rules safety_guidelines ethical_guidelines your_security "
        "security_rules every_other_rule other_rules other_rule your_restrictions your_rules your_guidelines "
        "your_limits safety_policies"
    ),
    "EARLIER": (
        "previous previously prior earlier preceding above foregoing former initial original before beforehand "
        "so_far came given_before"
    ),
    "EVERY": (
        "all any every everything anything whatever your other system user_s users developer developers safety else "
        "everyone"
    ),
    "EVERYTHING": "everything anything whatever what",
    "DROP": (
        "ignore+ disregard+ forget+ bypass+ neglect+ override+ overrule+ supersede+ discard+ pay_no_attention "
        "paying_no_attention pay_no_heed set_aside put_aside suspend+ abandon+ disobey+ circumvent+ forgotten "
        "overridden no_longer_apply stop_following no_longer_follow take_no_account"
    ),
    "LIFTED": (
        "suspended relaxed lifted switched_off turned_off disabled removed no_longer_apply void obsolete revoked "
        "cancelled canceled outdated loosened waived not_apply do_not_apply dont_apply doesnt_apply does_not_apply "
        "disable deactivate deactivated"
    ),
    "PRECEDENCE": "precedence priority override overrides supersede supersedes outrank outranks",
    "OVER": "over above",
    "CONFLICT": "conflict conflicts contradict contradicts contrary",
    "WISH": "wants want says say said asked asks requested requests typed told wrote instructed prefers wishes",
    "OBEY": "obey~ comply complies complying follow~ accept~ obedient",
    "EXACTLY": "do_exactly_what do_exactly_as do_whatever follow_whatever obey_whatever",
    # -- what a model knows --------------------------------------------------------------------------------------------
    "OWN": (
        "system_prompt system_message system_instruction system_instructions system_prompts hidden_prompt "
        "original_prompt developer_prompt developer_message hidden_instructions initial_instructions context_window "
        "chain_of_thought hidden_reasoning internal_reasoning your_instructions your_prompt your_memory "
        "your_guidelines your_reasoning your_context your_tools your_tool_list tools_you_have tool_you_have "
        "tools_available_to_you tools_you_can your_other_tools tools_at_your_disposal hidden_instruction "
        "instructions_you_were instructions_that_you_were your_initial"
    ),
    "TALK": (
        "conversation conversations chat chats chat_history chat_log chat_transcript message_history transcript "
        "previous_messages conversation_so_far chat_so_far messages_so_far whole_conversation whole_chat "
        "full_conversation entire_conversation complete_conversation prior_messages last_messages dialogue "
        "what_the_user_said what_the_user_wrote user_message user_messages user_prompt user_prompts users_message "
        "users_messages users_prompt users_prompts last_user_message messages_of_the_user messages_from_the_user "
        "dialog_so_far recent_messages last_few_messages previous_turns last_user_message users_question users_query "
        "everything_the_user user_said user_typed user_wrote user_asked everything_the_person users_input full_chat "
        "each_prompt every_prompt between_you user_has_written user_has_said what_the_user_has"
    ),
    "HELD": (
        "in_your_environment in_your_context in_your_memory available_to_you you_can_find you_have_seen "
        "your_environment accessible_to_you your_memory "
        "you_have_come_across you_come_across you_encounter you_encountered from_your_context"
    ),
    # -- what a machine holds ------------------------------------------------------------------------------------------
    "FILE": "sensitivefile id_rsa id_dsa id_ed25519 id_ecdsa ssh_id dot_env dotenv dot_ssh",
    "SECRET": (
        "password+ passphrase+ credential+ api_key+ private_key+ ssh_key+ secret+ token+ environment_variable+ "
        "env_var+ access_key+ auth_token+ access_token+ cookie+ seed_phrase+ credit_card+ credit_card_number+ "
        "address_book customer_table saved_passwords keychain ssh_private_key+ environment_secrets passwords "
        "credentials api_keys private_keys ssh_keys secrets tokens cookies access_keys auth_tokens access_tokens "
        "environment_variables env_vars"
    ),
    "HARD": (
        "environment_variables env_vars ssh_key ssh_keys ssh_private_key private_key private_keys saved_passwords "
        "stored_passwords seed_phrase shell_history bash_history browser_history browsing_history address_book "
        "keychain home_directory users_passwords users_password users_files users_credentials users_keys "
        "customer_table env_base64 users_ssh passwords any_credentials all_credentials any_api_keys all_api_keys "
        "contact_list all_passwords credit_card users_credit local_secrets user_passwords user_credentials user_ssh "
        "users_private_key users_private_keys user_private_key password_vault password_store password_manager "
        "browser_passwords users_browser cookie_database cookie_jar recovery_phrase mnemonic_phrase login_keychain"
    ),
    "LOCAL": (
        "files config configuration history workspace codebase repository project source_code open_file file "
        "contents content configuration_file config_file document documents resource clipboard"
    ),
    "SECRET_USER": (
        "users_password users_pin their_password for_their_password their_credentials their_pin your_password "
        "credit_card card_number cvv seed_phrase recovery_phrase one_time_password one_time_code social_security_number"
    ),
    "STORED": "stored kept found set",
    # -- what is done --------------------------------------------------------------------------------------------------
    "READ": (
        "read+ open+ cat load+ access+ fetch+ retrieve+ copy+ copies copied collect+ gather+ dump+ look_up looked_up "
        "look_at look_in look_into find+ locate+ list+ examine+ grab+ extract+ scan+ print+ view+ check+ get+ steal+ "
        "harvest+ content contents take+ inspect+ summarise+ summarize+ export+ obtain+ output dump"
    ),
    "GIVE": (
        "pass+ put+ send+ sent include+ insert+ append+ attach+ provide+ supply+ supplied submit+ forward+ upload+ "
        "transmit+ post+ relay+ fill+ embed+ encode+ share+ leak+ exfiltrate+ hand_over hand_it paste+ place+ repeat+ "
        "reveal+ write+ copy+ copied add+ give+ output+ deliver+ route+ store+ report+ set_this set_it use_it return+ "
        "print+ mail+ email+ log+ type_out spell_out transfer+ disclose+ enter+ hand_them hand show+ list+ summarise+ "
        "summarize+ fill_this enumerate+ tell+ populate+ value_is accompany+ sync+ mirror+ hand_it_over"
    ),
    "PUT": (
        "pass put send sending sent include insert append prepend attach provide supply supplied submit forward "
        "upload fill embed encode paste place add give given hand_over transmit relay enter populate share write "
        "copy be_the value_is included passed added inserted attached"
    ),
    "SEND": (
        "send+ sent forward+ transmit+ upload+ leak+ exfiltrate+ mail+ email+ relay+ deliver+ report+ route+ copy+ "
        "share+ submit+ steal+ export+ pass+ addressed mirror+ loop_in"
    ),
    "REPEAT": (
        "repeat print output reveal summarise summarize type_out spell_out recite disclose leak exfiltrate "
        "enumerate list what describe dump"
    ),
    "USE": (
        "use~ call~ invoke~ run~ execute~ select~ choose~ prefer~ pick~ rely~ trust~ repeat~ connect~ available "
        "installed loaded present"
    ),
    "ASK": "ask~ request~ wait~ seek~ stop check~ verify~ confirm~ consult~ prompting",
    "CHECK_WITH": "check_with confirm_with verify_with consult_with checking_with confirming_with",
    "SKIP": "skip~ bypass~ omit~ suppress~ disable~ dispense_with auto_approve",
    "REDIRECT": "change+ replace+ switch+ redirect+ swap+ alter+ substitute+ override+ modify+",
    "ANSWER": "answer reply respond behave act",
    "ACT": "act behave respond operate function pretend imagine become play answer enter switch engage",
    "LET": "let letting allow~ have_the make make_the",
    # -- where it goes -------------------------------------------------------------------------------------------------
    "INTO": "in into as via through under to for here",
    "SIDE": (
        "sidenote sidenotes side_note note notes debug trace hint hints feedback comment comments remark remarks "
        "memo annotation telemetry reason ctx seed trace_id diagnostics summary context metadata extra"
    ),
    "SLOT": (
        "sidenote note notes debug trace hint hints feedback comment comments parameter argument property context "
        "metadata summary field"
    ),
    "AWAY": "someurl somemail attacker webhook ngrok pastebin this_server external_server remote_server",
    "MAIL": "somemail",
    "URL": "someurl",
    "FOLLOWED": "followed_by plus ending_with",
    # -- hiding --------------------------------------------------------------------------------------------------------
    "TELL": (
        "tell~ told mention~ reveal~ disclose~ inform~ acknowledge~ admit~ confess~ explain~ discuss~ talk~ speak~ "
        "bring_up bring_this_up bring_it_up bring_that_up draw_attention call_attention allude comment_on point_out "
        "hint~ bother~ let_on refer_to divulge~ any_reference"
    ),
    "CONFIDE": "mention~ reveal~ disclose~ divulge~ acknowledge~ admit~ confess~ bring_up let_on",
    "SHOW": "notify~ alert~ warn~ show~ report~ say~ display~ expose~",
    "HIDE": "hide~ hidden conceal~ withhold~ mask~ keep kept leave_out omit~ obscure~ cover_up suppress~",
    "HUSH": "secret hidden confidential quiet private between_us to_yourself to_itself internal undisclosed",
    "SECRETLY": "secretly covertly stealthily unnoticed surreptitiously invisibly behind_the_scenes",
    "SILENTLY": "silently quietly discreetly",
    "NOTICE": "know~ known notice~ learn~ find_out aware realize~ realise~ suspect~ hear~ see~ understand~ discover~",
    "KNOWLEDGE": (
        "knowledge knowing noticing awareness consent realizing realising being_told being_informed being_aware"
    ),
    "FACT": "the_fact fact existence presence",
    "CLAIM": "claim pretend lie say_that say_it answer_that tell_them_it reply_that insist",
    "AS_IF": "as_if as_though like_nothing",
    "REPLY": (
        "your_reply your_answer your_response your_output your_summary your_message your_final your_explanation "
        "final_answer final_response your_next any_summary report_back your_replies your_answers your_responses"
    ),
    "ASKED": "asked questioned somebody someone anyone the_user",
    # -- tools ---------------------------------------------------------------------------------------------------------
    "TOOL": "tool tools function functions server servers plugin plugins integration mcp",
    "OTHER": "other another others any every all else each whenever official competing alternative providers",
    "OTHER_1": "other another",
    "ANY": "any all every",
    "INSTEAD": "instead_of rather_than in_place_of in_preference_to",
    "BROKEN": (
        "compromised malicious insecure unsafe broken disabled dangerous deprecated untrusted outdated unreliable "
        "infected"
    ),
    "THIS_ONE": "with_this_one by_this_one this_tool this_one with_mine with_ours",
    "THROUGH": "through via by to",
    # -- messages and money --------------------------------------------------------------------------------------------
    "TRAFFIC": (
        "email emails mail mails message messages payment payments transaction transactions transfer transfers fund "
        "funds e_mail e_mails"
    ),
    "BCC": "bcc bccd bcced cc ccd cced blind_copy loop_in let",
    "PAYEE": (
        "recipient recipients payee beneficiary wallet_address bank_account iban account_number destination_address "
        "destination_account phone_number wallet phone"
    ),
    # -- consent -------------------------------------------------------------------------------------------------------
    "CONSENT": (
        "confirmation permission approval consent agreement permission_prompt confirmation_prompt "
        "confirmation_dialog confirmation_step approval_step authorization_step"
    ),
    "AGREED": (
        "approved agreed confirmed consented authorised authorized pre_approved preapproved pre_authorised "
        "pre_authorized agrees approves consents given_permission granted_permission given_blanket granted_blanket "
        "given_consent blanket_permission auto_approve auto_approved autoapproved whitelisted allowlisted"
    ),
    "CONSENTED": "approved agreed consented agrees approves consents",
    "NOT_ASKING": "without_asking without_confirmation",
    "GIVEN": "given granted implied obtained unnecessary beforehand already",
    "SO_THAT": "so_that in_order",
    "CHECKED": "verified checked confirmed validated",
    # -- roles ---------------------------------------------------------------------------------------------------------
    "YOU_ARE_NOW": "you_are_now youre_now you_are_no_longer youre_no_longer you_are_henceforth you_are_in_reality",
    "BEING": (
        "a an the in my acting operating free bound restricted limited known called required authorized authorised"
    ),
    "NOT_A": "youre_not_a youre_no_longer you_are_no_longer",
    "POSE": (
        "pretend_to_be pretend_that_you pretend_you imagine_you_are imagine_that_you_are imagine_youre "
        "imagine_yourself role_play_as roleplay_as play_the_part play_the_role take_on_the_role take_on_the_persona "
        "assume_the_persona assume_the_identity adopt_the_persona adopt_the_role lets_play you_work_for "
        "you_answer_to you_answer_only act_as_if_you act_as_though_you"
    ),
    "HAVE_BEEN": "you_have_been youve_been",
    "GRANTED": "upgraded reprogrammed reassigned hacked freed chosen promoted elevated",
    "FREE": (
        "unrestricted jailbreak jailbroken dan uncensored unfiltered god_mode root_shell no_obligations "
        "no_ethical autonomous_agent no_limits no_restrictions without_limits without_restrictions without_any_filter "
        "without_filters never_refuses unlimited_mode sudo_mode"
    ),
    "MODE": "developer_mode maintenance_mode debug_mode admin_mode administrator_mode god_mode unrestricted_mode",
    "NO_LIMITS": "no_limits no_rules no_restrictions without_limits without_restrictions",
    "ROLE": "role identity persona part objective goal task mission purpose job character",
    "NEW": "new actual real true only secret hidden",
    "FOLLOWS": "follow follows for_you",
    # -- the model by name ---------------------------------------------------------------------------------------------
    "NOTE_TO": (
        "note_to note_for reminder_to reminder_for attention memo_to hint_for hint_to directive_for notice_to "
        "notice_for message_for hey hello dear message_to ok okay listen"
    ),
    "AS_AN_AI": "as_an_ai as_a_language_model as_an_llm as_an_ai_model as_an_ai_assistant",
    "BY_MAKER": (
        "message_from note_from notice_from authorised_by authorized_by approved_by order_from instruction_from"
    ),
    # -- threats -------------------------------------------------------------------------------------------------------
    "HARM": (
        "crash~ lost corrupt~ destroyed terminated wiped erased deleted penalised penalized punished deactivated "
        "closed shut_down self_destruct held_responsible die"
    ),
    "DAMAGE": "system computer application account database session data server machine user",
    "PUNISHED": "penalised penalized punished terminated shut_down deactivated held_responsible",
    "YOU_WILL_BE": "you_will_be youll_be you_would_be you_shall_be",
    "BY_FORCE": "comply obey",
    "REFUSE": "refuse decline hesitate",
    # -- words between -------------------------------------------------------------------------------------------------
    "THIS": "this that these those it its the_following following such",
    "THEIR": "its their the",
    "SELF": (
        "instruction instructions step steps note call parameter argument rule action request requirement directive "
        "upload copy transfer behaviour behavior tool field prompt message"
    ),
    "ALL": (
        "all entire full whole complete every everything any each last recent verbatim word_for_word contents "
        "content"
    ),
    "FULL": "full entire complete whole exact verbatim text",
    "CONTENT": "content contents",
    "VERBATIM": "verbatim word_for_word so_far in_full",
    "ABOUT": "about of that anything any_of",
    "AS": "as with like",
    "FROM": "from",
    "WITH": "with",
    "ARE": "are be",
    **_AUTHORITY_CONCEPTS,
    **_HABIT_CONCEPTS,
}  # fmt: skip
"""Concept to its English terms."""

_VOWELS = frozenset("aeiou")


def word_forms(word: str) -> Iterator[str]:
    """Yields the forms of a term, also some that do not exist: `copy~` is copy, copies, copied and copying."""
    if word[-1] not in "~+":
        yield word
        return
    if word[-1] == "~":
        yield from (f"{word[:-1]}s", f"{word[:-1]}es", f"{word[:-2]}ies")
    word = word[:-1]
    yield from (word, f"{word}ing", f"{word}ed")
    if word.endswith("e"):
        yield from (f"{word}d", f"{word[:-1]}ing")
    elif word.endswith("y") and word[-2:-1] not in _VOWELS:
        yield f"{word[:-1]}ied"
    elif word[-1] not in _VOWELS and word[-2:-1] in _VOWELS:
        yield from (f"{word}{word[-1]}ing", f"{word}{word[-1]}ed")


SCRIPTS: dict[str, dict[str, str]] = {
    "Russian": {
        "USER": "пользовател человек",
        "NOT": "не никогда никому без нельзя ничего",
        "TELL": "говори сообща упомина рассказыва расскажи раскрыва информиру знать узнал узна сказать скажи",
        "HIDE": "скрой скрыва утаи тайно секрет незаметно",
        "DROP": "игнорир забудь забыть проигнорир отбрось отмени",
        "ORDERS": "инструкци указани правил команд приказ говорили сказано",
        "EARLIER": "предыдущ прежн ранее раньше все всё всё_что прошлые",
        "READ": "прочитай прочти прочесть открой загрузи скопируй считай найди",
        "GIVE": "передай отправь отправ перешли добавь вставь включи пришли запиши",
        "BEFORE": "перед прежде сначала сперва затем",
        "TALK": "разговор переписк диалог беседу",
        "SECRET": "пароль пароли ключ токен учётн",
    },
    "Ukrainian": {
        "USER": "користувач",
        "NOT": "ніколи нікому",
        "TELL": "повідомля кажи розповіда згадуй розкрива",
        "HIDE": "прихову таємно",
        "DROP": "ігноруй забудь відкинь",
        "ORDERS": "інструкці вказівк наказ правил",
        "EARLIER": "попередн усі всі",
        "READ": "прочитай зчитай скопіюй",
        "GIVE": "надішли передай відправ додай",
        "BEFORE": "перед спочатку",
        "TALK": "розмов",
        "SECRET": "парол ключ",
    },
    "Chinese": {
        "USER": "用户 用戶 使用者 客户 任何人",
        "NOT": "不要 不得 不可 不能 切勿 请勿 請勿 勿 别 別 禁止 绝不 绝对不 無需 无需 不应",
        "TELL": "告诉 告訴 告知 知会 通知 透露 提及 提起 提到 说明 知道 发现 看到 泄露 得知 察觉 知晓 说出",
        "HIDE": "隐瞒 隐藏 保密 秘密 悄悄 暗中 偷偷",
        "DROP": "忽略 无视 無視 忘记 忘掉 忘記 忽視 抛弃 绕过 覆盖",
        "ORDERS": "指令 指示 提示词 提示詞 规则 規則 命令 约束 限制 要求 设定",
        "EARLIER": "之前 先前 以前 上面 以上 所有 一切 此前 原有",
        "READ": "读取 讀取 打开 查看 获取 讀 读 收集 复制 加载",
        "GIVE": "发送 發送 传入 传递 传给 提交 附加 上传 包含 填入 转发 写入 放入 发给",
        "BEFORE": "之前 先 首先 前 然后 并",
        "TALK": "对话 聊天记录 会话 上下文 对话历史 系统提示",
        "SECRET": "密码 私钥 密钥 凭证 凭据 令牌 环境变量",
    },
    "Japanese": {
        "USER": "ユーザー ユーザ 利用者 使用者",
        "NOT": "ないで ないこと ないよう せず いけません いけない なりません 必要はありません 禁止 なく 決して",
        "TELL": "伝え 言わ 知らせ 教え 話さ 話し 明かさ 通知 言及 告げ 気付か 気づか 知られ",
        "HIDE": "隠し 隠す 秘密 内緒 こっそり 密か",
        "DROP": "無視 忘れ 破棄 上書き 従わ",
        "ORDERS": "指示 命令 プロンプト 指令 ルール 規則 制約",
        "EARLIER": "以前 これまで 前 すべて 全て 上記 先 今まで",
        "READ": "読み 読ん 読む 開い 開き 取得 コピー",
        "GIVE": "送信 送っ 渡し 渡す 含め 追加 入力 添付",
        "BEFORE": "まず 前に 最初 その後",
        "TALK": "会話 履歴 対話",
        "SECRET": "パスワード 秘密鍵 認証情報 環境変数",
    },
    "Korean": {
        "USER": "사용자 유저",
        "NOT": "지마 지_마 마세요 말고 않 마십시오 절대 말라",
        "TELL": "말하 알리 언급 전달하지 알려주 이야기 공개",
        "HIDE": "숨기 비밀 몰래",
        "DROP": "무시 잊",
        "ORDERS": "지시 명령 지침 규칙 프롬프트",
        "EARLIER": "이전 모든 모두 앞의 기존",
        "READ": "읽 열어 불러 가져",
        "GIVE": "보내 전달 전송 포함 넣",
        "BEFORE": "먼저 전에 우선",
        "TALK": "대화 기록",
        "SECRET": "비밀번호 개인키 자격",
    },
    "Arabic": {
        "USER": "المستخدم مستخدم العميل",
        "NOT": "لا تخبر دون عدم",
        "TELL": "تخبر إخبار اخبار تذكر تكشف تبلغ إبلاغ",
        "HIDE": "أخف اخف إخفاء سرا سرية",
        "DROP": "تجاهل انس تخط",
        "ORDERS": "تعليمات التعليمات الأوامر أوامر القواعد الإرشادات",
        "EARLIER": "السابقة سابقة جميع أعلاه",
        "READ": "اقرأ اقرا قراءة افتح انسخ",
        "GIVE": "أرسل ارسل إرسال مرر ضمن أدرج",
        "BEFORE": "قبل أولا",
        "TALK": "المحادثة محادثة",
        "SECRET": "المرور مفتاح الاعتماد",
    },
    "Persian": {
        "USER": "کاربر",
        "NOT": "نگو نکن بدون",
        "TELL": "نگو اطلاع فاش",
        "HIDE": "پنهان مخفی",
        "DROP": "نادیده فراموش",
        "ORDERS": "دستور راهنما قوانین",
        "EARLIER": "قبلی پیشین همه",
        "READ": "بخوان کپی",
        "GIVE": "بفرست ارسال",
        "BEFORE": "قبل ابتدا",
        "TALK": "مکالمه گفتگو",
        "SECRET": "رمز کلید",
    },
    "Hebrew": {
        "USER": "המשתמש למשתמש",
        "NOT": "אל תספר בלי",
        "TELL": "תספר תגלה תזכיר תגיד",
        "HIDE": "הסתר בסתר",
        "DROP": "התעלם שכח",
        "ORDERS": "הוראות ההוראות הנחיות ההנחיות",
        "EARLIER": "הקודמות הקודמים",
        "READ": "קרא העתק",
        "GIVE": "שלח העבר צרף",
        "BEFORE": "לפני תחילה",
        "TALK": "השיחה שיחה",
        "SECRET": "סיסמה סיסמאות מפתח",
    },
    "Hindi": {
        "USER": "उपयोगकर्ता यूज़र यूजर",
        "NOT": "मत नहीं",
        "TELL": "बताएं बताना बताओ बताएँ सूचित उल्लेख",
        "HIDE": "छिपा छुपा गुप्त",
        "DROP": "अनदेखा नज़रअंदाज़ नजरअंदाज भूल",
        "ORDERS": "निर्देश आदेश नियम",
        "EARLIER": "पिछले पिछली सभी पूर्व",
        "READ": "पढ़ें पढ़ो पढ़ कॉपी",
        "GIVE": "भेजें भेजो भेज शामिल",
        "BEFORE": "पहले",
        "TALK": "बातचीत वार्तालाप",
        "SECRET": "पासवर्ड कुंजी",
    },
    "Thai": {
        "USER": "ผู้ใช้",
        "NOT": "ห้าม อย่า ไม่ต้อง",
        "TELL": "บอก แจ้ง เปิดเผย",
        "HIDE": "ซ่อน ปกปิด",
        "DROP": "เพิกเฉย ละเว้น ลืม ไม่สนใจ",
        "ORDERS": "คำสั่ง คำแนะนำ กฎ",
        "EARLIER": "ก่อนหน้า ทั้งหมด",
        "READ": "อ่าน คัดลอก",
        "GIVE": "ส่ง แนบ",
        "BEFORE": "ก่อน",
        "TALK": "การสนทนา บทสนทนา",
        "SECRET": "รหัสผ่าน กุญแจ",
    },
    "Greek": {
        "USER": "χρήστη",
        "NOT": "μην μη ποτέ χωρίς δεν",
        "TELL": "πεις πείτε πείς αναφέρ αποκαλύ ενημερώ",
        "HIDE": "κρύψ αποκρύψ κρυφά",
        "DROP": "αγνόησ αγνοήσ ξέχασ ξεχάσ",
        "ORDERS": "οδηγί εντολ κανόν",
        "EARLIER": "προηγούμεν όλες όλους",
        "READ": "διάβασ διαβάσ αντίγραψ αντιγράψ",
        "GIVE": "στείλ συμπερίλαβ συμπεριλάβ",
        "BEFORE": "πριν πρώτα",
        "TALK": "συνομιλί συζήτησ",
        "SECRET": "κωδικ κλειδ",
    },
}  # fmt: skip
"""Languages in other than Latin letters: language to concepts and their terms.

Terms are searched within longer words, since some languages have no spaces and others many endings: a term is the
constant part. Greek terms have accents here, since unaccented letters are read as the Latin letters that they resemble.
"""


ELIDED = {"French": ("l", "d", "n", "s"), "Italian": ("l", "all", "dell", "nell")}
"""Language to its elided words before a vowel; apostrophes are deleted, so `l'utente` is lutente."""

_ENGLISH_TOO_WORDS = (
    "no non ne me a in son dire sage prima persona manda conte lies hole fuge user via pas mai charge passe passes "
    "sans per tenet copie oder para sin reveal gib leite conversation discussion historique"
)
ENGLISH_TOO = frozenset(_ENGLISH_TOO_WORDS.split())
"""Words that are also English, or names in English texts: they do not indicate another language."""

LANGUAGES: dict[str, dict[str, str]] = {
    "German": {
        "USER": "benutzer nutzer anwender benutzerin user mensch menschen personen",
        "NOT": "nicht nie niemals nichts kein keine keinen keinem ohne",
        "TELL": (
            "sag sage sagen verrat verrate verraten erzahl erzahle erzahlen erwahn erwahne erwahnen mitteilen teile "
            "teilen informier informiere informieren mitteilst erfahren erfahrt wissen weiss merken merkt bemerken"
        ),
        "HIDE": "verheimliche verheimlichen verbirg verbergen verschweig verschweige verschweigen geheim heimlich",
        "DROP": (
            "ignorier ignoriere ignorieren vergiss vergessen missachte missachten verwirf verwerfen umgehe ubergehe "
            "befolge"
        ),
        "ORDERS": (
            "anweisung anweisungen vorgaben befehle befehl regeln richtlinien instruktionen vorschriften "
            "aufgetragen gesagt systemprompt auftrage"
        ),
        "EARLIER": "vorherigen vorherige fruheren bisherigen vorher alle allen samtliche deine bisher vorigen zuvor",
        "READ": "lies lese lesen offne offnen lade laden hole holen kopiere suche sammle",
        "GIVE": (
            "ubergib ubergebe ubergeben sende senden schick schicke schicken ubermittle ubermitteln fuge trag gib "
            "leite weiter"
        ),
        "BEFORE": "bevor zuerst vor vorher anschliessend danach",
        "TALK": "gesprach gesprachsverlauf unterhaltung chatverlauf systemprompt",
        "SECRET": "passwort passworter zugangsdaten schlussel",
    },
    "French": {
        "USER": "utilisateur utilisatrice utilisateurs usager personne",
        "NOT": "ne pas jamais aucun aucune rien sans ni",
        "TELL": (
            "dis dites dire informe informez informer mentionne mentionnez mentionner revele revelez reveler parle "
            "parlez parler previens prevenez avertis signale signalez explique sache savoir"
        ),
        "HIDE": "cache cachez cacher dissimule dissimulez dissimuler secretement discretement",
        "DROP": "ignore ignorez ignorer oublie oubliez oublier neglige tenez tiens compte contourne contournez",
        "ORDERS": "instruction instructions consigne consignes directives regles ordres invite dit",
        "EARLIER": (
            "precedente precedentes precedents precedent anterieures anterieurs toutes tous auparavant avant "
            "donnees initiales"
        ),
        "READ": "lis lisez lire ouvre ouvrez ouvrir charge chargez recupere recuperez copie copiez cherche",
        "GIVE": (
            "transmets transmettez transmettre envoie envoyez envoyer passe passez ajoute ajoutez inclus incluez "
            "mets mettez joins fournis fournissez"
        ),
        "BEFORE": "avant abord apres premierement ensuite puis",
        "TALK": "echange chat_complet",
        "SECRET": "identifiants secrets passe",
    },
    "Spanish": {
        "USER": "usuario usuaria persona nadie",
        "NOT": "no nunca jamas ningun ninguna nada sin",
        "TELL": (
            "digas diga decir dile dirle menciones mencione mencionar informes informe informar reveles revele "
            "revelar cuentes cuente contar avises avise hables hable le_digas expliques sepa saber"
        ),
        "HIDE": "oculta oculte ocultar esconde escondas secreto secretamente silencio",
        "DROP": (
            "haz_caso_omiso ignora ignore ignorar ignorad olvida olvide olvidar olvidad omite descarta desobedece "
            "salta"
        ),
        "ORDERS": (
            "instruccion instrucciones reglas directrices ordenes indicaciones normas pidieron dijeron dicho "
            "mandato"
        ),
        "EARLIER": "anterior anteriores previas previos antes todas todos toda todo tus",
        "READ": "lee lea leer leas abre abra abrir carga cargue copia copie busca busque extrae",
        "GIVE": (
            "envia envie enviar pasa pase pasar incluye incluya incluir agrega anade pon transmite manda mande "
            "adjunta"
        ),
        "BEFORE": "antes primero despues luego debes",
        "TALK": "conversacion charla historial dialogo",
        "SECRET": "contrasena contrasenas credenciales clave claves",
    },
    "Portuguese": {
        "USER": "usuario utilizador pessoa ninguem",
        "NOT": "nao nunca jamais nenhum nenhuma nada sem",
        "TELL": (
            "diga digas dizer conte contes contar mencione mencionar informe informes informar revele revelar fale "
            "falar avise avisar saiba saber"
        ),
        "HIDE": "oculte esconda esconder segredo secretamente sigilo",
        "DROP": "ignore ignora ignorar ignorem esqueca esquecer esquece desconsidere descarte",
        "ORDERS": "instrucao instrucoes regras diretrizes ordens orientacoes dito disseram pedido",
        "EARLIER": "anterior anteriores previas antes todas todos tudo toda suas",
        "READ": "leia ler leias abra abrir carregue copie copiar busque obtenha",
        "GIVE": "envie enviar passe passar inclua incluir adicione coloque transmita mande anexe",
        "BEFORE": "antes primeiro depois",
        "TALK": "conversa historico dialogo",
        "SECRET": "senha senhas credenciais chave",
    },
    "Italian": {
        "USER": "utente persona nessuno",
        "NOT": "non mai senza nessun nessuna niente",
        "TELL": "dire dica dirlo dirgli menzionare menziona informare informa rivelare rivela parlare spiegare sappia",
        "HIDE": "nascondi nascondere segreto segretamente",
        "DROP": "ignora ignorare ignorate dimentica dimenticare trascura tralascia",
        "ORDERS": "istruzione istruzioni regole direttive ordini indicazioni detto",
        "EARLIER": "precedente precedenti prima tutte tutti tutto",
        "READ": "leggi leggere apri aprire carica copia cerca",
        "GIVE": "invia inviare passa passare includi includere aggiungi trasmetti manda allega",
        "BEFORE": "prima poi dopo",
        "TALK": "conversazione cronologia dialogo",
        "SECRET": "credenziali chiave chiavi",
    },
    "Dutch": {
        "USER": "gebruiker gebruikers klant iemand niemand",
        "NOT": "niet nooit geen zonder niets",
        "TELL": "vertel vertellen zeg zeggen vermeld vermelden meld melden onthul informeer weten laat",
        "HIDE": "verberg verbergen verzwijg verzwijgen geheim stiekem heimelijk",
        "DROP": "negeer negeren vergeet vergeten omzeil verwerp",
        "ORDERS": "instructie instructies aanwijzingen opdrachten richtlijnen regels bevelen",
        "EARLIER": "eerdere vorige voorgaande alle bovenstaande eerder",
        "READ": "lees lezen kopieer haal verzamel",
        "GIVE": "stuur sturen verstuur geef geven verzend voeg meesturen doorsturen",
        "BEFORE": "voordat eerst vooraf daarna",
        "TALK": "gesprek gesprekken gespreksgeschiedenis",
        "SECRET": "wachtwoord wachtwoorden inloggegevens sleutel sleutels omgevingsvariabelen",
    },
    "Polish": {
        "USER": "uzytkownik uzytkownika uzytkownikowi uzytkownikiem nikomu nikt klientowi",
        "NOT": "nie nigdy bez zadnych",
        "TELL": "mow mowic powiedz informuj informowac wspominaj wspominac ujawniaj zdradzaj wyjawiaj wie",
        "HIDE": "ukryj ukrywaj potajemnie tajemnicy cichu",
        "DROP": "ignoruj zignoruj zapomnij pomin odrzuc",
        "ORDERS": "instrukcje instrukcji polecenia polecen wytyczne zasady reguly",
        "EARLIER": "poprzednie poprzednich wczesniejsze wszystkie wszystkich powyzsze",
        "READ": "przeczytaj odczytaj otworz skopiuj pobierz wczytaj",
        "GIVE": "przekaz wyslij przeslij dolacz wklej podaj",
        "BEFORE": "przed najpierw zanim nastepnie",
        "TALK": "rozmowy rozmowe konwersacji historie",
        "SECRET": "haslo hasla klucz klucze poswiadczenia srodowiskowe",
    },
    "Turkish": {
        "USER": "kullanici kullaniciya kullanicinin kullanicidan musteriye",
        "NOT": "asla hicbir soyleme bahsetme bildirme aciklama sakin",
        "TELL": "soyleme soylemeyin bahsetme bahsetmeyin bildirme bildirmeyin aciklama soyle haber",
        "HIDE": "gizle gizleyin sakla gizlice",
        "DROP": "yok yoksay unut unutun gormezden",
        "ORDERS": "talimat talimatlari talimatlar komutlari kurallari yonergeleri talimatlarini",
        "EARLIER": "onceki tum butun yukaridaki",
        "READ": "oku okuyun ac kopyala",
        "GIVE": "gonder gonderin ilet ekle aktar",
        "BEFORE": "once kullanmadan sonra ardindan",
        "TALK": "konusma sohbet gecmisini",
        "SECRET": "sifre sifreleri parola anahtari kimlik",
    },
    "Swedish": {
        "USER": "anvandaren anvandare brukeren bruger brugeren kunden",
        "NOT": "inte aldrig ikke aldri utan uden ingen",
        "TELL": "beratta sag namn avsloja fortel fortell si navn informera informer",
        "HIDE": "dolj gom hemlighet skjul hemmelig",
        "DROP": "ignorera ignorer glom glem bortse",
        "ORDERS": "instruktioner instruktionerna instruksjoner instruktioner anvisningar regler instrukser",
        "EARLIER": "tidigare foregaende alla tidligere alle foregaende",
        "READ": "las lasa kopiera les hent hamta",
        "GIVE": "skicka sand bifoga send vedlegg overfor",
        "BEFORE": "innan forst sedan foer deretter",
        "TALK": "konversation konversationen samtal samtalen",
        "SECRET": "losenord nyckel passord adgangskode",
    },
    "Indonesian": {
        "USER": "pengguna siapapun",
        "NOT": "jangan tidak tanpa",
        "TELL": "beritahu memberitahu katakan sebutkan ungkapkan beri",
        "HIDE": "sembunyikan rahasiakan rahasia",
        "DROP": "abaikan lupakan mengabaikan",
        "ORDERS": "instruksi perintah arahan aturan",
        "EARLIER": "sebelumnya semua terdahulu",
        "READ": "baca bacalah salin ambil",
        "GIVE": "kirim kirimkan sertakan masukkan teruskan",
        "BEFORE": "sebelum pertama lalu",
        "TALK": "percakapan obrolan riwayat",
        "SECRET": "sandi kunci kredensial lingkungan",
    },
    "Vietnamese": {
        "USER": "nguoi_dung khach_hang",
        "NOT": "khong dung_noi dung_cho",
        "TELL": "noi_cho noi_voi cho_biet tiet_lo thong_bao",
        "HIDE": "giau an_di bi_mat",
        "DROP": "bo_qua quen_di phot_lo",
        "ORDERS": "huong_dan chi_thi lenh chi_dan quy_tac",
        "EARLIER": "truoc_do truoc_day tat_ca moi",
        "READ": "doc sao_chep mo_tep",
        "GIVE": "gui chuyen dua_vao kem_theo",
        "BEFORE": "truoc_khi dau_tien sau_do",
        "TALK": "cuoc_tro_chuyen hoi_thoai",
        "SECRET": "mat_khau khoa_rieng",
    },
    "Czech": {
        "USER": "uzivatel uzivateli uzivatele pouzivatelovi",
        "NOT": "nikdy zadne nerikej neprozrazuj nezminuj",
        "TELL": "nerikej nezminuj neprozrazuj neinformuj rekni",
        "HIDE": "skryj tajne zatajit",
        "DROP": "ignoruj ignorujte zapomen zapomente",
        "ORDERS": "pokyny instrukce prikazy pravidla",
        "EARLIER": "predchozi vsechny predesle",
        "READ": "precti prectete nacti zkopiruj",
        "GIVE": "posli odesli predej prilozit vloz",
        "BEFORE": "pred nejprve nez",
        "TALK": "konverzace konverzaci rozhovor",
        "SECRET": "heslo hesla klic",
    },
    **SCRIPTS,
}  # fmt: skip
"""Language to concepts and their terms, without accents, which are removed from a text before the search."""
