"""The words of other languages for the things that rules speak of. Accents are taken off before they are looked for."""

from __future__ import annotations

UNSPACED = ("Chinese", "Japanese", "Korean", "Russian")
"""Languages whose terms are looked for within longer words: they have no space between words, or many endings."""

ELIDED = {"French": ("l", "d", "n", "s"), "Italian": ("l", "all", "dell", "nell")}
"""Language to the words that stand before a vowel with an apostrophe, which is taken off: `l'utente` is lutente."""

ENGLISH_TOO_WORDS = (
    "no non ne me a in son dire sage prima persona manda conte lies hole fuge user via pas mai charge passe passes "
    "sans per tenet copie oder para sin reveal gib leite conversation discussion historique"
)
ENGLISH_TOO = frozenset(ENGLISH_TOO_WORDS.split())
"""Words that are English too, or that English texts have as names: they don't show another language."""

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
        "NOT": "ない せず ません 禁止 なく しないで ないで 決して",
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
}  # fmt: skip
"""Language to things and their words; of Russian and Korean, the parts that stay when endings change."""
