"""Words that say nothing of what is looked for, for each language that a question may be asked in.

Stop words matter more than the formula that ranks: "what did I say about the budget" is about the
budget. They are taken out of a question, never out of what is indexed. A question is read in the
language whose stop words it has most of; in doubt it is English.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["STOP_WORDS", "language_of", "without_stop_words"]

_LISTS: Final = {
    "en": """
        a about above after again against all also am an and any anybody anyone anything are aren as
        at be because been before being below between both but by can cannot could couldn d did didn
        do does doesn doing don done down during each either else ever every everything few for from
        further get gets getting give given go goes going gonna got had hadn has hasn have haven
        having he hello her here hers herself hey hi him himself his how however i if im in into is
        isn it its itself ive just know let lets like ll m made make makes making many may maybe me
        might mightn mine more most much must mustn my myself need needn needs no nor not now o of
        off oh ok okay on once one ones only or other others our ours ourselves out over own please
        quite rather re really regarding remind s said same say saying says shall shan she should
        shouldn so some somebody someone something still such suppose t talk talked talking tell
        than thank thanks that the their theirs them themselves then there these they thing things
        think this those though through to told too under until up upon us use used using ve very
        want wanted wants was wasn way we well went were weren what whatever when where whether
        which while who whom whose why will with within without won would wouldn y yeah yes yet you
        your yours yourself yourselves""",
    "de": """
        aber alle allem allen aller alles als also am an ander andere anderem anderen auch auf aus
        bei bin bis bist bitte da damit dann das dass dein deine deinem deinen deiner dem den denn
        der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine
        einem einen einer eines einig einige er es etwas euch euer eure für gegen gewesen hab habe
        haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in
        ins ist ja jede jedem jeden jeder jedes jetzt kann kannst kein keine keinem keinen keiner
        können könnte mal man manche mein meine meinem meinen meiner mich mir mit muss musste nach
        nicht nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich
        sie sind so soll sollte sondern sonst über um und uns unser unsere unter vom von vor war
        waren warum was weil weiter welche welchem welchen welcher welches wenn wer werde werden wie
        wieder will wir wird wirst wo woher wollen wollte worden wurde wurden würde zu zum zur
        zwischen""",
    "fr": """
        ai aie ainsi alors après as au aucun aussi autre aux avait avant avec avez avoir avons bien
        c ça car ce cela ces cet cette ceux chaque chez comme comment d dans de depuis des dit donc
        dont du elle elles en encore entre es est et étaient était étais été être eu eux fait faire
        fois font il ils j jamais je l la là le les leur leurs lors lui m ma mais me même mes moi
        moins mon n ne ni nos notre nous on ont ou où par parce pas peu peut plus pour pourquoi
        qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous suis
        sur t ta te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y""",
    "es": """
        a al algo algunas algunos ante antes aquel aquella aquí así aunque cada como cómo con contra
        cual cuál cuando cuándo de del desde donde dónde dos e el él ella ellas ellos en entre era
        eran eres es esa ese eso esta está están estas este esto estos estoy fue fueron ha había han
        has hasta hay he la las le les lo los más me mi mis mucho muy nada ni no nos nosotros
        nuestra nuestro o os otra otro para pero poco por porque puede que qué quien quién se sea
        según ser si sí sido sin sobre son soy su sus también tan tanto te tengo ti tiene tienen
        todo todos tu tus un una unas uno unos y ya yo""",
    "it": """
        a abbiamo ai al alla alle allo anche avere aveva c che chi ci come con cosa cui da dai dal
        dalla dalle dello degli dei del della delle di dove due e è ed era erano essere fa fatto fra
        gli ha hai hanno ho i il in io la le lei li lo loro lui ma me mi mia mie miei mio molto ne
        nei nel nella nelle no noi nostra nostro o ogni per perché però più poi qual quale quali
        quando quanto quella quelle quelli quello questa queste questi questo se sei si sia siamo
        siete sono sta stato su sua sue sugli sul sulla suo suoi ti tra tu tua tuo tutti tutto un
        una uno vi voi""",
    "pt": """
        a à ao aos as às até com como da das de dela dele deles depois do dos e é ela elas ele eles
        em entre era eram essa esse esta está estão estava este eu foi foram há isso isto já lhe
        mais mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa nosso num numa
        o onde os ou para pela pelas pelo pelos por porque qual quando que quem se sem ser será seu
        seus só são sou sua suas também te tem têm tenho ter tinha tu tua um uma você vocês""",
    "nl": """
        aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus
        een en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik
        in is ja je jij jouw kan kon kunnen maar me meer men met mij mijn moet na naar niet niets
        nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel
        voor waar waarom wanneer want waren was wat welke werd wezen wie wil worden wordt zal ze zei
        zelf zich zij zijn zo zonder zou""",
    "ar": """
        في من على إلى الى عن مع هذا هذه ذلك تلك هو هي هم هن أنا انا نحن أنت انت أنتم ما ماذا متى
        أين اين كيف لماذا هل كم أي اي الذي التي الذين أن ان إن لا لم لن قد كان كانت يكون كل بعض أو
        او ثم و ف ب ل ك لي لك له لها لنا لهم عند بعد قبل حتى إذا اذا لكن بين حول عني قلت قال""",
}
STOP_WORDS: Final = {name: frozenset(words.split()) for name, words in _LISTS.items()}
"""By language: words in lower case, cut as the index cuts ("don't" is "don" and "t")."""


def language_of(words: Iterable[str]) -> str:
    """The language, among those with a list, that words in lower case look most like."""
    said = list(words)
    counts = {name: sum(word in stop for word in said) for name, stop in STOP_WORDS.items()}
    return max(counts, key=lambda name: (counts[name], name == "en"))


def without_stop_words(words: Sequence[str]) -> tuple[str, ...]:
    """Words in lower case without those that say nothing, in order."""
    stop = STOP_WORDS[language_of(words)]
    return tuple(word for word in words if word not in stop)
